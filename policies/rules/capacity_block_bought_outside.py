"""A capacity block is bought outside of the program: destroying the resource refunds nothing, replacing pays twice."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice


def check(_resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Advise on every block that a program buys."""
    yield advice(
        "this buys a capacity block, prepaid and never refunded: a replacement buys a second one, and destroy only "
        "forgets the first. Buy it by hand and pass its cr-… id to the launch template"
    )


RULE = Rule(
    name="capacity-block-bought-outside",
    title="A capacity block is bought by hand",
    source="pulumi-aws, CapacityBlockReservation (best effort, cannot be deleted); facts/aws.md section 7, 19",
    fix="Buy the block outside of the program and pass its id as configuration.",
    applies_to=("aws:ec2/capacityBlockReservation:CapacityBlockReservation",),
    check=check,
    severity="advisory",
)
