"""A stand-in never runs where something real could be meant: it refuses to start outside its own sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sandbox.cloud.errors import StandInError
from sandbox.state_folder import StateFolder


def refuse_outside_the_sandbox(package: str, folder: StateFolder, environment: Mapping[str, str]) -> None:
    """Check that the engine that starts the plugin works on this sandbox's own state with its own plugins.

    Raises:
        StandInError: the state backend or PULUMI_HOME is another one, or not named at all.
    """
    what = f"This is the sandbox's stand-in for the {package} provider; it plays AWS and must never run elsewhere."
    home = environment.get("PULUMI_HOME", "")
    if not home or not _is_below(Path(home), folder.pulumi):
        raise StandInError(
            f"{what} PULUMI_HOME is {home or 'not set'}, and not in {folder.pulumi}. "
            "Remove the plugin from that folder, or run `python -m sandbox` commands."
        )
    backend = environment.get("PULUMI_BACKEND_URL", "")
    parts = urlsplit(backend)
    if parts.scheme != "file" or parts.netloc or not _is_below(Path(unquote(parts.path)), folder.pulumi):
        raise StandInError(
            f"{what} The state backend is {backend or 'not set'}, and not the sandbox's own in {folder.pulumi}. "
            "For a real deployment use the official plugins: make up AWS=1."
        )


def _is_below(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder)
