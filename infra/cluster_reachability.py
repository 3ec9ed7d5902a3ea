"""Whether the cluster of a kubeconfig can be reached, asked before the provider falls into its own long waits."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import yaml

TIMEOUT_SECONDS = 3.0


def server_address(kubeconfig: Path, context: str | None) -> tuple[str, int]:
    """Host and port of the API server.

    Raises:
        ValueError: the file is no kubeconfig, or has no such context.
    """
    try:
        document = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        name = context or document["current-context"]
        cluster = next(entry["context"]["cluster"] for entry in document["contexts"] if entry["name"] == name)
        url = next(entry["cluster"]["server"] for entry in document["clusters"] if entry["name"] == cluster)
    except (yaml.YAMLError, KeyError, TypeError, StopIteration):
        wanted = f"a context {context!r}" if context else "a current context"
        raise ValueError(f"{kubeconfig} is no kubeconfig with {wanted}") from None
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 443


def unreachable_reason(kubeconfig: Path, context: str | None) -> str | None:
    """Why the cluster can't be used now, or None where its API server takes connections."""
    if not kubeconfig.is_file():
        return f"there is no kubeconfig at {kubeconfig}"
    try:
        host, port = server_address(kubeconfig, context)
        with socket.create_connection((host, port), TIMEOUT_SECONDS):
            return None
    except ValueError as error:
        return str(error)
    except OSError as error:
        return f"the cluster of {kubeconfig} does not answer at {host}:{port} ({error.strerror or error})"
