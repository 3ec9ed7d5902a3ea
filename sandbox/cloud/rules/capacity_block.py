"""A group on a capacity block needs market type, reservation and instance type in its template.

Source: EKS user guide "Create a managed node group with Capacity Blocks for ML": a request that lacks one is rejected
(facts/aws.md 3.5 and 7 #20).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.errors import AwsError
from sandbox.cloud.templates import template_of
from sandbox.cloud.values import Plain


def check(group: Mapping[str, Plain], account: Account, _: Resource | None) -> None:
    """Raise AwsError where the group and its template don't fit together."""
    template = template_of(group, account) or {}
    market = (template.get("instanceMarketOptions") or {}).get("marketType")
    if group.get("capacityType") != "CAPACITY_BLOCK":
        if market == "capacity-block":
            raise AwsError(
                "InvalidParameterException",
                "The launch template has market type capacity-block, so the node group needs capacity_type "
                "CAPACITY_BLOCK.",
            )
        return
    missing = [
        words
        for words, there in (
            ("instance_market_options with market_type capacity-block", market == "capacity-block"),
            ("a capacity_reservation_target", bool(_target(template))),
            ("an instance_type", bool(template.get("instanceType"))),
        )
        if not there
    ]
    if missing:
        raise AwsError(
            "InvalidParameterException",
            f"A node group with capacity_type CAPACITY_BLOCK needs in its launch template: {'; '.join(missing)}.",
        )


def _target(template: Mapping[str, Any]) -> Any:
    target = (template.get("capacityReservationSpecification") or {}).get("capacityReservationTarget") or {}
    return target.get("capacityReservationId") or target.get("capacityReservationResourceGroupArn")
