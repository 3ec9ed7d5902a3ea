"""A capacity block has its own place: a placement group beside it makes the launch fail (facts/aws.md 7 #1)."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain


def check(template: Mapping[str, Plain]) -> None:
    """Raise AwsError where both are there."""
    market = template.get("instanceMarketOptions")
    placement = template.get("placement")
    if not isinstance(market, Mapping) or market.get("marketType") != "capacity-block":
        return
    if isinstance(placement, Mapping) and (placement.get("groupName") or placement.get("groupId")):
        raise AwsError(
            "InvalidParameterCombination",
            "A capacity block can't be launched into a placement group: leave `placement` out of the template.",
        )
