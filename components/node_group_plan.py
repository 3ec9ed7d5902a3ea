"""From a ``node_groups`` entry to EKS node groups: one, or one a capacity block, each with its sizes at a moment.

Pure: the entry and the time in, groups out. The time matters for capacity blocks only. A block's group has no node
before the block starts (instances would fail to launch again and again), its nodes while the block runs, and none from
the moment on that EKS scales it down (docs/runbooks/capacity-blocks.md).
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Literal

from components.capacity import CapacityBlock, CapacityBlocks, CapacityReservation, OnDemand
from components.node_group_args import NodeGroupArgs

# EKS user guide, "Create a managed node group with Capacity Blocks": its scheduled action sets the group to zero 40
# minutes before the end. Asking for nodes after that would undo it, and EC2 ends them 10 minutes later anyway.
SCALE_DOWN_BEFORE_END = datetime.timedelta(minutes=40)

BlockPhase = Literal["waiting", "running", "over"]


@dataclass(frozen=True)
class PlannedNodeGroup:
    """One EKS node group. ``name`` is its name in EKS and in the program."""

    name: str
    zone: str
    capacity_type: Literal["ON_DEMAND", "CAPACITY_BLOCK"]
    desired: int
    largest: int
    reservation_id: str | None = None
    resource_group_arn: str | None = None
    placement_group: str | None = None
    """A placement group that exists."""
    own_placement_group: bool = False
    """Whether the group brings a cluster placement group of its own."""


def block_phase(block: CapacityBlock, now: datetime.datetime) -> BlockPhase:
    """Where a block is in its life."""
    if now < block.start:
        return "waiting"
    return "running" if now < block.end - SCALE_DOWN_BEFORE_END else "over"


def plan_node_groups(args: NodeGroupArgs, now: datetime.datetime) -> tuple[PlannedNodeGroup, ...]:
    """The EKS node groups of an entry.

    Raises:
        ValueError: the entry says no capacity.
    """
    capacity = args.capacity
    largest = max(1, args.count)  # EKS refuses a maximum of zero
    if isinstance(capacity, OnDemand):
        # One instance alone needs no neighbours; and types without EFA gain nothing from them.
        together = args.nodes.efa_interfaces > 0
        return (
            PlannedNodeGroup(
                args.name, capacity.zone, "ON_DEMAND", args.wanted_count, largest, own_placement_group=together
            ),
        )
    if isinstance(capacity, CapacityReservation):
        return (
            PlannedNodeGroup(
                args.name,
                capacity.zone,
                "ON_DEMAND",
                args.wanted_count,
                largest,
                reservation_id=capacity.reservation_id,
                resource_group_arn=capacity.resource_group_arn,
                placement_group=capacity.placement_group,
            ),
        )
    if isinstance(capacity, CapacityBlocks):
        return tuple(
            PlannedNodeGroup(
                f"{args.name}-{block.reservation_id}",
                block.zone,
                "CAPACITY_BLOCK",
                args.wanted_count if block_phase(block, now) == "running" else 0,
                largest,
                reservation_id=block.reservation_id,
            )
            for block in capacity.blocks
        )
    raise ValueError(f"node group {args.name} says no capacity")
