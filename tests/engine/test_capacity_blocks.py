"""A capacity block's life on the real engine: before its start, while it runs, and the move to the next one.

The tests build on one another, in the order of the runbook (docs/runbooks/capacity-blocks.md).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.stack_runs import StackRuns
from tests.stack_files import stack_config

pytestmark = pytest.mark.engine

FIRST, NEXT = "cr-0a1b2c3d4e5f60718", "cr-0ffffffffffffffff"
FIRST_GROUP, NEXT_GROUP = (f"aws:eks/nodeGroup:NodeGroup::p5-{reservation}" for reservation in (FIRST, NEXT))
DEPLOYMENT = "kubernetes:apps/v1:Deployment::vllm-llama3-70b"


def block(reservation: str, starts_in_days: int) -> dict[str, Any]:
    """A block of two weeks."""
    start = datetime.datetime.now(datetime.UTC).replace(microsecond=0) + datetime.timedelta(days=starts_in_days)
    end = start + datetime.timedelta(days=14)
    return {
        "reservation_id": reservation,
        "zone": "use1-az6",
        "instance_count": 1,
        "start": start.isoformat(),
        "end": end.isoformat(),
    }


def stack_with(runs: StackRuns, *blocks: dict[str, Any]) -> Path:
    """The staging stack on these blocks."""

    def change(config: dict[str, Any]) -> None:
        config.clear()
        config.update(stack_config("staging"))
        config["gpu-inference:node_groups"][0]["capacity"]["blocks"] = list(blocks)

    return runs.stack_file(change)


def nodes(runs: StackRuns) -> set[str]:
    """The GPU nodes that are there."""
    with runs.sandbox.api() as api:
        names = {node["metadata"]["name"] for node in api.items("/api/v1/nodes")}
    return {name for name in names if name.startswith("p5-")}


def server_pods(runs: StackRuns) -> list[str | None]:
    """The node of each pod of the model server; None for one that waits."""
    with runs.sandbox.api() as api:
        pods = api.items("/api/v1/namespaces/ai-inference/pods?labelSelector=app%3Dvllm-llama3-70b")
    return [pod["spec"].get("nodeName") for pod in pods]


@pytest.fixture(scope="module", autouse=True)
def clean(runs: StackRuns) -> Iterator[None]:
    """Nothing of another test before, nothing of these after."""
    yield
    assert runs.run("destroy", stack_with(runs, block(NEXT, -1))).code == 0


def test_before_its_start_a_block_has_no_node_and_up_waits_for_none(runs: StackRuns) -> None:
    run = runs.run("up", stack_with(runs, block(FIRST, 7)))
    assert run.code == 0, run.text
    assert "no node before the block starts" in run.text
    assert nodes(runs) == set()
    assert server_pods(runs) == [None]


def test_after_its_start_the_nodes_come_and_the_pods_that_waited_run(runs: StackRuns) -> None:
    run = runs.run("up", stack_with(runs, block(FIRST, -1)))
    assert run.code == 0, run.text
    assert run.steps()[FIRST_GROUP] == "update"
    assert server_pods(runs) == [f"p5-{FIRST}-1"]


def test_the_next_block_adds_a_group_and_touches_nothing_else(runs: StackRuns) -> None:
    run = runs.run("up", stack_with(runs, block(FIRST, -2), block(NEXT, -1)))
    assert run.code == 0, run.text
    created = {name for name, step in run.steps().items() if step == "create"}
    assert NEXT_GROUP in created
    assert not {FIRST_GROUP, DEPLOYMENT} & set(run.steps())
    assert nodes(runs) == {f"p5-{FIRST}-1", f"p5-{NEXT}-1"}


def test_taking_the_old_block_away_moves_the_pods_to_the_next(runs: StackRuns) -> None:
    run = runs.run("up", stack_with(runs, block(NEXT, -1)))
    assert run.code == 0, run.text
    assert run.steps()[FIRST_GROUP] == "delete"
    assert not {NEXT_GROUP, DEPLOYMENT} & set(run.steps())
    assert server_pods(runs) == [f"p5-{NEXT}-1"]


def test_after_its_end_a_block_has_no_node_and_runs_go_on(runs: StackRuns) -> None:
    run = runs.run("up", stack_with(runs, block(NEXT, -15)))
    assert run.code == 0, run.text
    assert "the block is over" in run.text
    assert nodes(runs) == set()
