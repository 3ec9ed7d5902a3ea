"""What a killed run was creating: the engine can't know whether it came to be, the cluster or the account can.

Each create that was under way is looked for in the cluster, or in the imaginary AWS account: there, it is taken over
under its id; not there, it is forgotten and the next ``up`` makes it.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.api import Api, ApiError
from sandbox.cloud.account import Account


@dataclass(frozen=True)
class PendingCreate:
    """A create that was under way: the resource's URN and the object as it was sent."""

    urn: str
    body: Mapping[str, Any]

    @property
    def object_id(self) -> str:
        """The Kubernetes provider's id: ``namespace/name``, or ``name`` for a cluster-wide object."""
        metadata = self.body["metadata"]
        namespace = metadata.get("namespace")
        return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def pending_creates(exported_state: str) -> list[PendingCreate]:
    """The creates under way in ``pulumi stack export``'s answer that made Kubernetes objects."""
    deployment = json.loads(exported_state)["deployment"]
    return [
        PendingCreate(operation["resource"]["urn"], operation["resource"].get("inputs", {}))
        for operation in deployment.get("pending_operations", [])
        if operation["type"] == "creating" and "metadata" in operation["resource"].get("inputs", {})
    ]


def pending_urns(exported_state: str) -> list[str]:
    """The URN of every create that was under way."""
    deployment = json.loads(exported_state)["deployment"]
    operations = deployment.get("pending_operations") or ()
    return [operation["resource"]["urn"] for operation in operations if operation["type"] == "creating"]


def pending_in_account(exported_state: str, account: Account) -> dict[str, str]:
    """The AWS resources under way that came to be: id by URN."""
    return {urn: made.id for urn in pending_urns(exported_state) if (made := account.created_as(urn))}


def with_adopted(exported_state: str, ids: Mapping[str, str]) -> str:
    """The state with the resources that came to be taken in under their ids, and no operation pending.

    The CLI's own ``refresh --import-pending-creates`` marks them and then drops them (3.274.1): nothing in the engine
    reads the mark. A ``refresh`` afterwards fills in what the provider knows of them.
    """
    state: dict[str, Any] = json.loads(exported_state)
    deployment = state["deployment"]
    for operation in deployment.pop("pending_operations", None) or ():
        resource = operation["resource"]
        if operation["type"] == "creating" and resource["urn"] in ids:
            # Last: whatever it depends on was there before it.
            deployment["resources"].append({**resource, "id": ids[resource["urn"]]})
    return json.dumps(state)


def has_pending_operations(exported_state: str) -> bool:
    """Whether a run ended without finishing what it had begun."""
    return bool(json.loads(exported_state)["deployment"].get("pending_operations"))


def exists(api: Api, pending: PendingCreate) -> bool:
    """Whether the object is in the cluster."""
    api_version = pending.body["apiVersion"]
    base = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
    try:
        kinds = {entry["kind"]: entry for entry in api.request("GET", base)["resources"] if "/" not in entry["name"]}
        kind = kinds.get(pending.body["kind"])
        if kind is None:
            return False
        namespace = pending.body["metadata"].get("namespace", "default")
        scope = f"/namespaces/{namespace}" if kind["namespaced"] else ""
        api.request("GET", f"{base}{scope}/{kind['name']}/{pending.body['metadata']['name']}")
    except ApiError as error:
        if error.status == http.client.NOT_FOUND:
            return False
        raise
    return True
