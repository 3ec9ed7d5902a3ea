"""The whole program on stand-ins of AWS: every stack comes up, and a change touches its own resources only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.account import Account, Resource
from sandbox.stacks.summary import wait_for_least_replicas
from tests.engine.stack_runs import Run, StackRuns
from tests.stack_files import stack_config

pytestmark = pytest.mark.engine

Config = dict[str, Any]
GROUP = "aws:eks/nodeGroup:NodeGroup"
CLUSTER = "aws:eks/cluster:Cluster"


def of_stack(stack: str, change: Callable[[Config], Any] | None = None) -> Callable[[Config], None]:
    """Makes the config that of another stack's file, and changes it."""

    def replace(config: Config) -> None:
        config.clear()
        config.update(stack_config(stack))
        if change:
            change(config)

    return replace


def of_aws(run: Run) -> dict[str, str]:
    """The steps on AWS resources."""
    return {name: step for name, step in run.steps().items() if name.startswith(("aws:", "eks:"))}


def of_type(runs: StackRuns, token: str) -> list[Resource]:
    return Account(runs.folder / "pulumi" / "account.sqlite").of_type(token)


@pytest.fixture(scope="module")
def file(runs: StackRuns) -> Path:
    """The sandbox's own stack file, in which the program makes the cluster."""
    return runs.stack_file(of_stack("sandbox"))


@pytest.fixture(scope="module")
def up(runs: StackRuns, file: Path) -> Iterator[Run]:
    """The sandbox stack, up."""
    assert runs.run("destroy", file).code == 0  # whatever another test left
    created = runs.run("up", file)
    assert created.code == 0, created.text
    yield created
    assert runs.run("destroy", runs.stack_file(of_stack("sandbox"))).code == 0


def test_nodes_come_from_the_groups_and_pods_run_on_them(runs: StackRuns, up: Run) -> None:
    with runs.sandbox.api() as api:
        wait_for_least_replicas(api, "ai-inference")
        nodes = {node["metadata"]["name"]: node for node in api.items("/api/v1/nodes")}
        pods = api.items("/api/v1/namespaces/ai-inference/pods")
    offered = nodes["p5-1"]["status"]["allocatable"]
    assert (offered["nvidia.com/gpu"], offered["vpc.amazonaws.com/efa"], offered["pods"]) == ("8", "32", "51")
    assert int(offered["ephemeral-storage"]) > 27 * 10**12  # RAID0 of the local NVMe
    serving = [pod["spec"]["nodeName"] for pod in pods if "weights" not in pod["metadata"]["name"]]
    assert {"p5-1", "p5-2"} <= set(serving)


def test_a_second_up_changes_nothing(runs: StackRuns, up: Run, file: Path) -> None:
    again = runs.run("up", file)
    assert (again.code, again.steps()) == (0, {})


def test_refresh_finds_nothing_changed_and_sees_what_was(runs: StackRuns, up: Run, file: Path) -> None:
    assert runs.run("refresh", file).outcomes() == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda server: server.update(max_model_len=8192),
        lambda server: server["autoscaler"].update(min_replicas=3),
        lambda server: server.update(memory_request_gib=200),
    ],
    ids=["model", "replicas", "memory"],
)
def test_a_change_of_a_model_touches_no_aws_resource(
    runs: StackRuns, up: Run, change: Callable[[Config], None]
) -> None:
    def edit(config: Config) -> None:
        change(config["gpu-inference:model_servers"][0])

    changed = runs.run("preview", runs.stack_file(of_stack("sandbox", edit)))
    assert changed.steps(), changed.text
    assert of_aws(changed) == {}


def test_a_changed_label_touches_its_group_alone_and_replaces_its_nodes_one_by_one(runs: StackRuns, up: Run) -> None:
    """As a new AMI release does, which is the catalog's to say."""

    def label(config: Config) -> None:
        config["gpu-inference:node_groups"][0]["labels"] = {"example.com/rack": "7"}

    with runs.sandbox.api() as api:
        before = {node["metadata"]["name"]: node["metadata"]["uid"] for node in api.items("/api/v1/nodes")}
    changed = runs.run("up", runs.stack_file(of_stack("sandbox", label)))
    assert changed.code == 0, changed.text
    assert set(of_aws(changed)) <= {f"{GROUP}::p5", "aws:autoscaling/tag:Tag::p5-label-example.com-rack"} | {
        name for name in of_aws(changed) if name.startswith("aws:autoscaling/tag:Tag::p5")
    }
    assert of_aws(changed)[f"{GROUP}::p5"] == "update"
    with runs.sandbox.api() as api:
        after = {node["metadata"]["name"]: node["metadata"]["uid"] for node in api.items("/api/v1/nodes")}
    assert set(before) == set(after)
    assert {name for name in after if after[name] != before[name]} == {"p5-1", "p5-2"}


def test_destroy_takes_workloads_before_the_cluster(runs: StackRuns, up: Run) -> None:
    gone = runs.run("destroy", runs.stack_file(of_stack("sandbox")))
    assert gone.code == 0, gone.text
    order = [
        event["resourcePreEvent"]["metadata"]["urn"].split("::")[2].rpartition("$")[2]
        for event in gone.events
        if event.get("resourcePreEvent", {}).get("metadata", {}).get("op") == "delete"
    ]
    first_cluster = order.index(CLUSTER)
    assert max(order.index(token) for token in order if token.startswith("kubernetes:apps/")) < first_cluster
    assert max(index for index, token in enumerate(order) if token == GROUP) < first_cluster
    assert Account(runs.folder / "pulumi" / "account.sqlite").everything() == []
    with runs.sandbox.api() as api:
        assert api.items("/api/v1/nodes") == []
    assert runs.run("up", runs.stack_file(of_stack("sandbox"))).code == 0  # for the tests that follow


@pytest.mark.parametrize("stack", ["dev", "staging"])
def test_another_stack_comes_up_and_goes(runs: StackRuns, stack: str) -> None:
    file = runs.stack_file(of_stack(stack))
    assert runs.run("destroy", file).code == 0
    created = runs.run("up", file)
    assert created.code == 0, created.text
    assert {group.outputs["status"] for group in of_type(runs, GROUP)} == {"ACTIVE"}
    assert runs.run("destroy", file).code == 0


def test_prod_goes_only_after_an_explicit_unprotect(runs: StackRuns) -> None:
    file = runs.stack_file(of_stack("prod"))
    assert runs.run("destroy", file).code == 0
    created = runs.run("up", file)
    assert created.code == 0, created.text
    refused = runs.run("destroy", file)
    assert refused.code != 0
    assert "protect" in refused.text
    assert "model-cache" in refused.text
    assert of_type(runs, CLUSTER)

    unprotected = runs.stack_file(of_stack("prod", lambda config: config.update({"gpu-inference:protect": False})))
    assert runs.run("up", unprotected).code == 0
    gone = runs.run("destroy", unprotected)
    assert gone.code == 0, gone.text
    assert Account(runs.folder / "pulumi" / "account.sqlite").everything() == []
