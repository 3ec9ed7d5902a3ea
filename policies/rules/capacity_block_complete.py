"""A group on a capacity block needs four things that agree: capacity type, market type, reservation, instance type."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.launch_templates import (
    CAPACITY_BLOCK_MARKET,
    LAUNCH_TEMPLATE,
    instance_type_of,
    market_type,
    reservation,
)
from policies.aws.node_groups import (
    CAPACITY_BLOCK,
    NODE_GROUP,
    capacity_type,
    launch_template,
    launch_template_reference,
    node_groups_of,
)
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge both sides: what is missing in the template, and what is missing in the group."""
    if resource.type == NODE_GROUP:
        yield from _group(resource, resources)
    else:
        yield from _template(resource, resources)


def _group(group: Resource, resources: ResourceSet) -> Iterator[Outcome]:
    wants_block = capacity_type(group) == CAPACITY_BLOCK
    if wants_block and launch_template_reference(group) is None:
        yield violation(
            "capacityType CAPACITY_BLOCK without a launch template: only a template can name the block; add one with "
            "instanceMarketOptions.marketType capacity-block, the reservation's id and the instance type",
            "capacityType",
        )
    template = launch_template(group, resources)
    if template and not wants_block and market_type(template) == CAPACITY_BLOCK_MARKET:
        yield violation(
            f"the launch template {template.name!r} buys from a capacity block, and the group's capacityType is "
            f"{capacity_type(group)}: set capacityType to CAPACITY_BLOCK",
            "capacityType",
        )


def _template(template: Resource, resources: ResourceSet) -> Iterator[Outcome]:
    groups = [group for group in node_groups_of(template, resources) if capacity_type(group) == CAPACITY_BLOCK]
    market = market_type(template)
    if market != CAPACITY_BLOCK_MARKET and not groups:
        return
    if market != CAPACITY_BLOCK_MARKET:
        yield violation(
            f"the node group {groups[0].name!r} has capacityType CAPACITY_BLOCK, and the template's market type is "
            f"{market or 'not set'}: set instanceMarketOptions.marketType to capacity-block",
            "instanceMarketOptions",
        )
    if reservation(template) is None:
        yield violation(
            "the template names no reservation to launch into: set "
            "capacityReservationSpecification.capacityReservationTarget.capacityReservationId to the block's cr-… id",
            "capacityReservationSpecification",
        )
    if instance_type_of(template) is None:
        yield violation(
            "the template of a capacity block must state its instance type: set instanceType to the block's",
            "instanceType",
        )


RULE = Rule(
    name="capacity-block-complete",
    title="A capacity block is wired completely",
    source="eksctl #8542, #8320; awsome-distributed-ai #334; terraform-provider-aws #40876; EKS user guide, Capacity "
    "Blocks",
    fix="State capacityType CAPACITY_BLOCK on the group, and market type, reservation id and instance type in its "
    "template.",
    applies_to=(LAUNCH_TEMPLATE, NODE_GROUP),
    check=check,
    scope="set",
)
