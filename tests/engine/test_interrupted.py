"""An ``up`` that is killed half way is finished by the next, and nothing of it outlives its engine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from sandbox.stacks.summary import wait_for_least_replicas
from tests.engine.stack_runs import StackRuns, engine_processes

pytestmark = pytest.mark.engine


def eventually(check: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if check():
            return True
        time.sleep(0.05)
    return False


def deployment_exists(runs: StackRuns) -> bool:
    with runs.sandbox.api() as api:
        return bool(api.items("/apis/apps/v1/namespaces/ai-inference/deployments"))


def processes(runs: StackRuns, part: str) -> list[int]:
    return [pid for pid, command in engine_processes(runs.folder) if part in command.split(" ")[0] or part in command]


@pytest.fixture
def nothing_up(runs: StackRuns) -> StackRuns:
    """The sandbox without the workload; what is killed then is a first ``up``."""
    assert runs.run("destroy", runs.stack_file()).code == 0
    return runs


@pytest.mark.parametrize(
    ("victim", "number"),
    [
        ("/pulumi ", signal.SIGKILL),
        ("pulumi-language-python-exec", signal.SIGKILL),
        ("/pulumi ", signal.SIGINT),
    ],
    ids=["engine killed", "program killed", "engine interrupted"],
)
def test_the_next_up_finishes_it(nothing_up: StackRuns, victim: str, number: signal.Signals) -> None:
    runs = nothing_up
    process = runs.start("up", runs.stack_file())
    # Its Service waits for endpoints for seconds after that: a create is under way.
    assert eventually(lambda: deployment_exists(runs))
    pids = processes(runs, victim)
    assert pids, list(engine_processes(runs.folder))
    os.kill(pids[0], number)
    process.communicate(timeout=120)
    assert eventually(lambda: not list(engine_processes(runs.folder))), list(engine_processes(runs.folder))

    finished = runs.run("up", runs.stack_file())
    assert finished.code == 0, finished.text
    with runs.sandbox.api() as api:
        wait_for_least_replicas(api, "ai-inference")
        assert len(api.items("/api/v1/namespaces/ai-inference/pods?labelSelector=app%3Dvllm-llama3-70b")) == 2
    assert runs.run("up", runs.stack_file()).steps() == {}


def test_a_second_run_at_the_same_time_is_refused(nothing_up: StackRuns) -> None:
    runs = nothing_up
    first = runs.start("up", runs.stack_file())
    assert eventually(lambda: deployment_exists(runs))
    second = runs.run("up", runs.stack_file())
    assert second.code == 1
    assert "Another run on this stack is under way: process" in second.text
    first.communicate(timeout=120)
    assert first.returncode == 0
