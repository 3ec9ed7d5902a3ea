"""A cluster's Kubernetes version goes up one minor at a time, and never down ("Update existing cluster")."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain


def check(cluster: Mapping[str, Plain], _: Account, old: Resource | None) -> None:
    """Raise AwsError where an update asks for another way. The sentence is AWS's words."""
    before, now = (old.inputs.get("version") if old else None), cluster.get("version")
    if not before or not now or before == now:
        return
    if _minor(now) != _minor(before) + 1:
        raise AwsError(
            "InvalidParameterException", f"Unsupported Kubernetes minor version update from {before} to {now}"
        )


def _minor(version: str) -> int:
    return int(str(version).split(".")[1])
