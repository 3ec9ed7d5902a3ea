"""The sandbox's control plane as the cluster behind ``aws.eks.Cluster``."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox.api import Api
from sandbox.certificates import CLUSTER_AUTHORITY, certificate_file
from sandbox.cloud.account import Account, Resource
from sandbox.cloud.derived_nodes import node_group
from sandbox.cloud.errors import StandInError
from sandbox.control_plane import Sandbox
from sandbox.errors import SandboxError
from sandbox.nodes import converge, remove_group
from sandbox.ports import LOOPBACK
from sandbox.state_folder import StateFolder


class LocalCluster:
    """The cluster in a sandbox's folder; it must be up for everything but a preview."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder

    @property
    def endpoint(self) -> str:
        """URL of the API server."""
        port = self._folder.read_state().ports.get("kube-apiserver")
        if port is None:
            raise StandInError("The sandbox is not up. Start it: python -m sandbox up.")
        return f"https://{LOOPBACK}:{port}"

    @property
    def certificate_authority(self) -> str:
        """Its authority's certificate, PEM in base64."""
        return base64.b64encode(certificate_file(self._folder.certificates, CLUSTER_AUTHORITY).read_bytes()).decode()

    def set_nodes(self, group: Resource, template: Mapping[str, Any] | None, account: Account) -> None:
        """Bring the group's nodes to what group and template say.

        Raises:
            AwsError: EC2 would start none of them, or they would never join the cluster.
            StandInError: the sandbox's cluster does not take them.
        """
        nodes = node_group(group, template, account)
        with self._api() as api:
            converge(api, nodes, _say)

    def remove_nodes(self, group_name: str) -> None:
        """Drain and delete all nodes of a group.

        Raises:
            StandInError: the sandbox's cluster does not answer.
        """
        with self._api() as api:
            remove_group(api, group_name, _say)

    @contextmanager
    def _api(self) -> Iterator[Api]:
        try:
            with Sandbox(self._folder.path).api() as api:
                yield api
        except SandboxError as error:
            raise StandInError(str(error)) from error
        except (KeyError, FileNotFoundError):
            raise StandInError("The sandbox is not up. Start it: python -m sandbox up.") from None


def _say(sentence: str) -> None:
    """To the engine's log: standard output is the plugin's port."""
    sys.stderr.write(f"{sentence}\n")
