"""An ``up`` that is killed between the cluster and its nodes is finished by the next; no plugin outlives its engine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.cloud.account import Account
from sandbox.stacks.summary import wait_for_least_replicas
from tests.engine.stack_runs import StackRuns, engine_processes
from tests.stack_files import stack_config

pytestmark = pytest.mark.engine

CLUSTER = "aws:eks/cluster:Cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"


def whole_program(config: dict[str, Any]) -> None:
    """The stack file as it is: the program makes the cluster."""
    config.clear()
    config.update(stack_config())


def eventually(check: Callable[[], Any], seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if check():
            return True
        time.sleep(0.02)
    return False


def test_killed_between_cluster_and_nodes(runs: StackRuns) -> None:
    file = runs.stack_file(whole_program)
    account = Account(runs.folder / "pulumi" / "account.sqlite")
    assert runs.run("destroy", file).code == 0
    process = runs.start("up", file)
    assert eventually(lambda: account.of_type(CLUSTER))
    engines = [pid for pid, command in engine_processes(runs.folder) if "/pulumi " in command.split(" -")[0] + " "]
    os.kill(engines[0], signal.SIGKILL)
    process.communicate(timeout=120)
    assert eventually(lambda: not list(engine_processes(runs.folder)), 30), list(engine_processes(runs.folder))

    finished = runs.run("up", file)
    assert finished.code == 0, finished.text
    assert len(account.of_type(CLUSTER)) == 1
    assert len(account.of_type(GROUP)) == 2
    with runs.sandbox.api() as api:
        wait_for_least_replicas(api, "ai-inference")
        nodes = [node["metadata"]["name"] for node in api.items("/api/v1/nodes")]
    assert {"p5-1", "p5-2"} <= set(nodes)
    assert runs.run("up", file).steps() == {}
    assert runs.run("destroy", file).code == 0
    assert account.everything() == []
