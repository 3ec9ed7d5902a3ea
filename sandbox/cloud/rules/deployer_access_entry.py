"""The principal that makes a cluster has an access entry already: a second one collides (facts/aws.md 11)."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain

DEPLOYER_ROLE = "role/sandbox"
"""Who deploys in the imaginary account (``invokes`` says so to getCallerIdentity)."""


def check(entry: Mapping[str, Plain], account: Account, old: Resource | None) -> None:
    """Raise AwsError where the entry names the deployer and the cluster lets its creator in. AWS's words."""
    cluster = account.get("aws:eks/cluster:Cluster", entry["clusterName"])
    if cluster is None:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {entry['clusterName']}.")
    creator_is_in = (cluster.inputs.get("accessConfig") or {}).get("bootstrapClusterCreatorAdminPermissions", True)
    if old is None and creator_is_in and str(entry["principalArn"]).endswith(f":{DEPLOYER_ROLE}"):
        raise AwsError(
            "ResourceInUseException", "The specified access entry resource is already in use on this cluster."
        )
