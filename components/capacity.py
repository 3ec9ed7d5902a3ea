"""Where a GPU group's machines come from: the three kinds of EC2 capacity, each with what it needs and nothing else.

Plain values of the stack file. None of them is ever bought by the program: a capacity block is paid in advance and is
never refunded, so a preview or a replacement must not be able to buy one (facts/aws.md section 7 number 19).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, ValidationInfo, field_validator, model_validator

from components.arguments import Args, NotEmpty
from components.aws_arguments import ReservationId, ResourceGroupArn, ZoneId

InstanceCount = Annotated[int, Field(ge=1, le=256)]


class OnDemand(Args):
    """On-demand instances, in a cluster placement group of our own. For p4 and p5 there are rarely any."""

    kind: Literal["on_demand"]
    zone: ZoneId


class CapacityReservation(Args):
    """An on-demand capacity reservation (ODCR): paid for by the hour, used or not."""

    kind: Literal["odcr"]
    zone: ZoneId
    """The reservation's own zone."""
    instance_count: InstanceCount
    """How many instances are reserved."""
    reservation_id: ReservationId | None = None
    resource_group_arn: ResourceGroupArn | None = None
    """A resource group of several reservations, instead of one reservation."""
    placement_group: str | None = None
    """The placement group that the reservation was made in. Never another one: it would match no reserved instance."""

    @model_validator(mode="after")
    def _one_target(self) -> CapacityReservation:
        if (self.reservation_id is None) == (self.resource_group_arn is None):
            raise ValueError("exactly one of reservation_id and resource_group_arn says which capacity is meant")
        return self


class CapacityBlock(Args):
    """One capacity block: a number of instances, in one zone, from a start to an end."""

    reservation_id: ReservationId
    zone: ZoneId
    instance_count: InstanceCount
    start: AwareDatetime
    """With its offset, such as 2026-12-01T11:30:00Z: as ``aws ec2 describe-capacity-reservations`` tells it."""
    end: AwareDatetime

    @field_validator("end")
    @classmethod
    def _after_start(cls, value: AwareDatetime, info: ValidationInfo) -> AwareDatetime:
        if "start" in info.data and value <= info.data["start"]:
            raise ValueError("is not after start")
        return value


class CapacityBlocks(Args):
    """Capacity blocks, one after the other. Each has a node group of its own, called by its reservation."""

    kind: Literal["capacity_block"]
    blocks: Annotated[tuple[CapacityBlock, ...], NotEmpty]

    @field_validator("blocks")
    @classmethod
    def _each_once(cls, value: tuple[CapacityBlock, ...]) -> tuple[CapacityBlock, ...]:
        if len({block.reservation_id for block in value}) != len(value):
            raise ValueError("names a reservation twice")
        return value


Capacity = Annotated[OnDemand | CapacityReservation | CapacityBlocks, Field(discriminator="kind")]


def zones(capacity: OnDemand | CapacityReservation | CapacityBlocks) -> tuple[str, ...]:
    """The zones that the capacity is in; more than one only for blocks in different zones."""
    if isinstance(capacity, CapacityBlocks):
        return tuple(dict.fromkeys(block.zone for block in capacity.blocks))
    return (capacity.zone,)
