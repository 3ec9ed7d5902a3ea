"""Kubeconfig files: the address of the API server, its authority, and one client certificate, all inside the file."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from sandbox.certificates import CLUSTER_AUTHORITY, certificate_file, key_file
from sandbox.ports import LOOPBACK

CONTEXT = "gpu-inference-sandbox"
"""Named so that nobody takes it for a real cluster's."""


def kubeconfig(certificates: Path, identity: str, port: int) -> str:
    """The kubeconfig (YAML) with which ``identity`` reaches the API server on this loopback port, over verified TLS."""

    def embedded(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode("ascii")

    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [
            {
                "name": CONTEXT,
                "cluster": {
                    "server": f"https://{LOOPBACK}:{port}",
                    "certificate-authority-data": embedded(certificate_file(certificates, CLUSTER_AUTHORITY)),
                },
            }
        ],
        "users": [
            {
                "name": identity,
                "user": {
                    "client-certificate-data": embedded(certificate_file(certificates, identity)),
                    "client-key-data": embedded(key_file(certificates, identity)),
                },
            }
        ],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": identity}}],
    }
    return yaml.safe_dump(document, sort_keys=False)
