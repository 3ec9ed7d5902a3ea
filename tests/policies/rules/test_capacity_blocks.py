"""placement-vs-capacity-block, capacity-block-complete and nodegroup-update-strategy: the three kinds of capacity."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import LAUNCH_TEMPLATE, NODE_GROUP, UNKNOWN, Object, judge, launch_template, node_group

PLACEMENT, COMPLETE, UPDATE = "placement-vs-capacity-block", "capacity-block-complete", "nodegroup-update-strategy"
BLOCK = {"marketType": "capacity-block"}
MINIMAL = {"updateStrategy": "MINIMAL"}


def target(reference: Any = "cr-0block") -> Object:
    return {"capacityReservationTarget": {"capacityReservationId": reference}}


def block_template(**changes: Any) -> Object:
    properties = {"instanceMarketOptions": BLOCK, "capacityReservationSpecification": target(), **changes}
    return launch_template(**properties)


def block_group(**changes: Any) -> Object:
    return node_group(**{"capacityType": "CAPACITY_BLOCK", "updateConfig": MINIMAL, **changes})


def odcr(**properties: Any) -> Object:
    return {"type": "aws:ec2/capacityReservation:CapacityReservation", "name": "odcr", "properties": properties}


def test_a_complete_block_passes_all_three() -> None:
    for rule in (PLACEMENT, COMPLETE, UPDATE):
        assert judge(rule, block_template(), block_group()) == []


@pytest.mark.parametrize("placement", [{"groupName": "pg"}, {"groupId": "pg-1"}, {"groupName": UNKNOWN}])
def test_a_block_with_a_placement_group(placement: Object) -> None:
    assert judge(PLACEMENT, block_template(placement=placement)) == [f"violation {LAUNCH_TEMPLATE}"]


def test_the_group_alone_may_say_that_it_is_a_block() -> None:
    template = launch_template(placement={"groupName": "pg"})
    assert judge(PLACEMENT, template, block_group()) == [f"violation {LAUNCH_TEMPLATE}"]


def test_a_placement_without_a_group_and_on_demand_with_one_pass() -> None:
    assert judge(PLACEMENT, block_template(placement={"tenancy": "default"})) == []
    assert judge(PLACEMENT, launch_template(placement={"groupName": "pg"}), node_group()) == []


def test_a_block_that_the_program_buys_is_advised_against() -> None:
    token = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
    bought = {"type": token, "name": "block", "properties": {"capacityBlockOfferingId": UNKNOWN}}
    assert judge("capacity-block-bought-outside", bought, odcr()) == [f"advice {token}/block"]


def test_a_reservation_takes_its_own_placement_group_only() -> None:
    arn = "arn:aws:ec2:us-east-1:111122223333:placement-group/pg"
    template = launch_template(placement={"groupName": "pg"}, capacityReservationSpecification=target("odcr"))
    assert judge(PLACEMENT, template, odcr(placementGroupArn=arn)) == []
    assert judge(PLACEMENT, template, odcr(placementGroupArn=f"{arn}-other")) == [f"violation {LAUNCH_TEMPLATE}"]
    assert judge(PLACEMENT, template, odcr()) == [f"violation {LAUNCH_TEMPLATE}"]
    assert judge(PLACEMENT, template, odcr(placementGroupArn=UNKNOWN)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"capacityReservationSpecification": {"capacityReservationTarget": {}}},
        {"capacityReservationSpecification": None},
        {"capacityReservationSpecification": target("")},
        {"instanceMarketOptions": None},
        {"instanceMarketOptions": {"marketType": "spot"}},
        {"instance_type": None},
    ],
)
def test_a_block_that_misses_a_part(changes: Object) -> None:
    assert judge(COMPLETE, block_template(**changes), block_group()) == [f"violation {LAUNCH_TEMPLATE}"]


def test_a_block_that_the_group_does_not_say_or_has_no_template_for() -> None:
    assert judge(COMPLETE, block_template(), node_group()) == [f"violation {NODE_GROUP}"]
    assert judge(COMPLETE, block_group(template=None)) == [f"violation {NODE_GROUP}"]


def test_a_resource_group_or_an_unknown_id_is_a_reservation_too() -> None:
    arn = {"capacityReservationTarget": {"capacityReservationResourceGroupArn": "arn:aws:resource-groups:::group/p5"}}
    assert judge(COMPLETE, block_template(capacityReservationSpecification=arn), block_group()) == []
    assert judge(COMPLETE, block_template(capacityReservationSpecification=target(UNKNOWN)), block_group()) == []
    assert judge(COMPLETE, block_template(instanceMarketOptions=UNKNOWN), block_group()) != []


def test_on_demand_is_no_business_of_completeness() -> None:
    assert judge(COMPLETE, launch_template(), node_group()) == []


@pytest.mark.parametrize("config", [None, {"maxUnavailable": 1}, {"updateStrategy": "DEFAULT"}])
def test_a_block_with_the_default_strategy(config: Object | None) -> None:
    assert judge(UPDATE, block_template(), block_group(updateConfig=config)) == [f"violation {NODE_GROUP}"]


def test_an_on_demand_reservation_is_advised_and_plain_on_demand_is_left_alone() -> None:
    reserved = launch_template(capacityReservationSpecification=target())
    assert judge(UPDATE, reserved, node_group()) == [f"advice {NODE_GROUP}"]
    assert judge(UPDATE, launch_template(), node_group()) == []


def test_a_strategy_that_is_not_known_yet() -> None:
    config = {"updateStrategy": UNKNOWN}
    assert judge(UPDATE, block_template(), block_group(updateConfig=config)) == [f"undecided {NODE_GROUP}"]
