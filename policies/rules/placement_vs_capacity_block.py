"""A capacity block takes no placement group; an on-demand reservation takes only the group that it was created in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.aws.launch_templates import LAUNCH_TEMPLATE, reservation
from policies.aws.node_groups import node_groups_of, uses_capacity_block
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import is_unknown, mapping, text

_CAPACITY_RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"


def _placement_group(template: Resource) -> Any:
    placement = mapping(template.at("placement"))
    for key in ("groupName", "groupId"):
        value = placement.get(key)
        if is_unknown(value) or text(value):
            return value
    return None


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge templates that name a placement group."""
    group = _placement_group(resource)
    if group is None:
        return
    name = "a placement group" if is_unknown(group) else f"the placement group {text(group)!r}"
    block = uses_capacity_block(resource, resource) or any(
        uses_capacity_block(node_group, resource) for node_group in node_groups_of(resource, resources)
    )
    if block:
        yield violation(
            f"the template launches into a capacity block and names {name}, which the block does not know, so "
            "launches fail with InsufficientInstanceCapacity: remove `placement`",
            "placement",
        )
        return
    target = reservation(resource)
    odcr = None if is_unknown(target) else resources.referenced(_CAPACITY_RESERVATION, target)
    if odcr and not is_unknown(odcr.at("placementGroupArn")):
        arn = text(odcr.at("placementGroupArn"))
        if not arn:
            yield violation(
                f"the reservation {odcr.name!r} was created outside of any placement group, and the template names "
                f"{name}: remove `placement`, or create the reservation with placementGroupArn",
                "placement",
            )
        elif (
            not is_unknown(group)
            and "groupName" in mapping(resource.at("placement"))
            and not arn.endswith(f"/{text(group)}")
        ):
            yield violation(
                f"the reservation {odcr.name!r} lives in {arn.rsplit('/', 1)[-1]!r}, and the template names {name}: "
                "name the same",
                "placement",
            )


RULE = Rule(
    name="placement-vs-capacity-block",
    title="No placement group with a capacity block",
    source="eksctl #7949; terraform-aws-eks #3730; aws-parallelcluster #6311; EC2 user guide, Use Capacity Blocks",
    fix="Remove `placement` from the launch template of a capacity block.",
    applies_to=(LAUNCH_TEMPLATE,),
    check=check,
    scope="set",
)
