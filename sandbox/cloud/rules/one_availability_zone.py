"""EFA, a placement group of strategy cluster and a reservation are each in one zone: so is the group that uses them.

EKS takes the request and EC2 then finds no capacity (facts/aws.md 2.3 and 7 #18); the sandbox says so at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.derived_nodes import efa_interfaces, subnet_zone
from sandbox.cloud.errors import AwsError
from sandbox.cloud.templates import template_of
from sandbox.cloud.values import Plain


def check(group: Mapping[str, Plain], account: Account, _: Resource | None) -> None:
    """Raise AwsError where such a group has subnets in more than one zone."""
    template = template_of(group, account) or {}
    reason = _reason(template)
    zones = sorted({subnet_zone(account, subnet) for subnet in group["subnetIds"]})
    if reason and len(zones) > 1:
        raise AwsError(
            "InsufficientInstanceCapacity",
            f"The node group has subnets in {', '.join(zones)}, but {reason} one availability zone. "
            "Give it one subnet.",
        )


def _reason(template: Mapping[str, Any]) -> str | None:
    if efa_interfaces(template):
        return "EFA traffic never leaves"
    if (template.get("placement") or {}).get("groupName"):
        return "a cluster placement group is in"
    if (template.get("capacityReservationSpecification") or {}).get("capacityReservationTarget"):
        return "a capacity reservation is in"
    return None
