"""The life of a capacity block: waiting, running, over, and the move to the next; and groups of the other kinds."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.capacity import CapacityBlocks
from components.gpu_node_group import node_group_body
from components.node_group_plan import block_phase, plan_node_groups
from components.node_labels import autoscaler_tags, node_labels
from infra.notices import notices
from tests.aws_groups import BLOCK, NEXT_BLOCK, ODCR, ON_DEMAND, blocks, node_group
from tests.program_recorder import record, stack_settings

UTC = datetime.UTC
BEFORE = datetime.datetime(2026, 12, 1, 11, 29, tzinfo=UTC)
DURING = datetime.datetime(2026, 12, 8, 12, 0, tzinfo=UTC)
# EKS scales the group down 40 minutes before the end; from then on asking for nodes would work against it.
SCALED_DOWN = datetime.datetime(2026, 12, 15, 10, 50, tzinfo=UTC)
AFTER = datetime.datetime(2026, 12, 16, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "desired"),
    [
        (BEFORE, 0),
        (BEFORE + datetime.timedelta(minutes=1), 2),
        (DURING, 2),
        (SCALED_DOWN - datetime.timedelta(seconds=1), 2),
        (SCALED_DOWN, 0),
        (AFTER, 0),
    ],
)
def test_a_block_has_nodes_only_while_it_runs(now: datetime.datetime, desired: int) -> None:
    (planned,) = plan_node_groups(node_group(capacity=blocks()), now)
    assert (planned.name, planned.desired) == ("p5-cr-0a1b2c3d4e5f60718", desired)
    body = node_group_body(node_group(capacity=blocks()), planned)
    assert body["scaling_config"] == {"min_size": 0, "desired_size": desired, "max_size": 2}
    assert body["capacity_type"] == "CAPACITY_BLOCK"


def test_moving_on_adds_the_next_group_and_leaves_the_running_one_as_it_is() -> None:
    alone = plan_node_groups(node_group(capacity=blocks(BLOCK)), DURING)
    both = plan_node_groups(node_group(capacity=blocks(BLOCK, NEXT_BLOCK)), DURING)
    assert both[0] == alone[0]
    assert (both[1].name, both[1].desired) == ("p5-cr-0ffffffffffffffff", 0)
    moved = plan_node_groups(node_group(capacity=blocks(BLOCK, NEXT_BLOCK)), AFTER)
    assert [group.desired for group in moved] == [0, 2]
    # Taking the old one off the list leaves the new group as it is.
    assert plan_node_groups(node_group(capacity=blocks(NEXT_BLOCK)), AFTER) == (moved[1],)


def test_nodes_of_every_block_carry_the_entrys_label() -> None:
    """So that a server finds the next block's nodes without being changed."""
    args = node_group(capacity=blocks(BLOCK, NEXT_BLOCK))
    assert node_labels(args)["gpu-inference/node-group"] == "p5"


@given(minutes=st.integers(-100_000, 100_000))
def test_a_block_goes_through_its_phases_in_order(minutes: int) -> None:
    capacity = node_group(capacity=blocks()).capacity
    assert isinstance(capacity, CapacityBlocks)
    order = ["waiting", "running", "over"]
    now = DURING + datetime.timedelta(minutes=minutes)
    later = now + datetime.timedelta(minutes=1)
    block = capacity.blocks[0]
    assert order.index(block_phase(block, now)) <= order.index(block_phase(block, later))


@pytest.mark.parametrize(("now", "awaited"), [(BEFORE, False), (DURING, True), (AFTER, False)])
def test_servers_are_awaited_only_while_there_can_be_nodes(now: datetime.datetime, awaited: bool) -> None:
    """Else ``up`` would wait for pods that nothing can run, and fail."""
    changed = stack_settings(
        "staging",
        {"node_groups": [{"name": "p5", "instance_type": "p5.48xlarge", "count": 1, "capacity": blocks(BLOCK)}]},
    )
    recorded = record(changed, "staging", now=now)
    for type_ in ("kubernetes:apps/v1:Deployment", "kubernetes:core/v1:Service"):
        annotations = recorded.one(type_).inputs["metadata"].get("annotations", {})
        assert (annotations.get("pulumi.com/skipAwait") != "true") == awaited


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (BEFORE, "no node before the block starts at 2026-12-01T11:30:00+00:00"),
        (AFTER, "the block is over"),
        (DURING, ""),
    ],
)
def test_a_run_says_what_a_block_waits_for(now: datetime.datetime, said: str) -> None:
    changed = stack_settings(
        "staging",
        {"node_groups": [{"name": "p5", "instance_type": "p5.48xlarge", "count": 1, "capacity": blocks(BLOCK)}]},
    )
    found = [notice for notice in notices(changed, now) if notice.startswith("p5-cr-0a1b2c3d4e5f60718")]
    assert [said in notice for notice in found] == ([True] if said else [])


def test_support_that_ends_soon_is_said_before() -> None:
    sandbox = stack_settings("sandbox")
    assert list(notices(sandbox, datetime.datetime(2026, 12, 1, tzinfo=UTC))) == []
    (notice,) = notices(sandbox, datetime.datetime(2027, 5, 1, tzinfo=UTC))
    assert "2027-06-24" in notice


@pytest.mark.parametrize("capacity", [ODCR, ON_DEMAND])
def test_fixed_capacity_is_one_group_whatever_the_time(capacity: dict[str, object]) -> None:
    early, late = (plan_node_groups(node_group(capacity=capacity), now) for now in (BEFORE, AFTER))
    assert early == late
    assert [(group.name, group.desired, group.capacity_type) for group in early] == [("p5", 2, "ON_DEMAND")]


def test_updates_need_no_spare_gpus() -> None:
    args = node_group()
    body = node_group_body(args, plan_node_groups(args, DURING)[0])
    assert body["update_config"] == {"max_unavailable": 1, "update_strategy": "MINIMAL"}
    assert not {"instance_types", "disk_size", "remote_access"} & set(body)


def test_an_autoscaler_foresees_what_a_node_brings() -> None:
    template = "k8s.io/cluster-autoscaler/node-template"
    tags = autoscaler_tags(node_group(labels={"team": "ml"}))
    assert tags[f"{template}/resources/nvidia.com/gpu"] == "8"
    assert tags[f"{template}/resources/vpc.amazonaws.com/efa"] == "32"
    assert tags[f"{template}/taint/nvidia.com/gpu"] == "true:NoSchedule"
    assert tags[f"{template}/label/team"] == "ml"
    p6 = autoscaler_tags(node_group("p6-b300.48xlarge"))
    assert p6[f"{template}/resources/vpc.amazonaws.com/efa"] == "16"
