"""The blueprint's workload on the real engine: preview, up, up again, one change, refresh, destroy."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.stacks.summary import wait_for_least_replicas
from tests.engine.stack_runs import StackRuns, engine_processes

pytestmark = pytest.mark.engine

PODS = "/api/v1/namespaces/ai-inference/pods?labelSelector=app%3Dvllm-llama3-70b"
SERVER = "kubernetes:apps/v1:Deployment::vllm-llama3-70b"
SCALER = "kubernetes:keda.sh/v1alpha1:ScaledObject::vllm-autoscaler"


@pytest.fixture(scope="module")
def up(runs: StackRuns) -> Any:
    """The workload, up; and what its preview said before."""
    file = runs.stack_file()
    assert runs.run("destroy", file).code == 0  # whatever another test left
    preview = runs.run("preview", file)
    created = runs.run("up", file)
    assert created.code == 0, created.text
    return preview, created


def test_preview_shows_what_up_does(up: Any) -> None:
    preview, created = up
    assert preview.code == 0
    assert preview.steps() == created.steps()
    assert preview.steps()[SERVER] == "create"


def test_two_pods_of_four_gpus_on_two_nodes(runs: StackRuns, up: Any) -> None:
    with runs.sandbox.api() as api:
        wait_for_least_replicas(api, "ai-inference")
        pods = api.items(PODS)
        nodes = {item["metadata"]["name"]: item for item in api.items("/api/v1/nodes")}
    assert len(pods) == 2
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
    for pod in pods:
        labels = nodes[pod["spec"]["nodeName"]]["metadata"]["labels"]
        assert labels["node.kubernetes.io/instance-type"] == "p5.48xlarge"
        assert pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "4"
        assert {entry["type"]: entry["status"] for entry in pod["status"]["conditions"]}["Ready"] == "True"


def test_the_claim_is_bound_for_many_nodes(runs: StackRuns, up: Any) -> None:
    with runs.sandbox.api() as api:
        claim = api.request("GET", "/api/v1/namespaces/ai-inference/persistentvolumeclaims/pvc-hf-model-cache")
    assert claim["status"]["phase"] == "Bound"
    assert claim["status"]["accessModes"] == ["ReadWriteMany"]


def test_a_second_up_changes_nothing_also_after_a_scale_up(runs: StackRuns, up: Any) -> None:
    """The autoscaler's number of replicas is none of ours."""
    with runs.sandbox.api() as api:
        scale = "/apis/apps/v1/namespaces/ai-inference/deployments/vllm-llama3-70b/scale"
        api.request("PATCH", scale, {"spec": {"replicas": 3}}, "application/merge-patch+json")
    again = runs.run("up", runs.stack_file())
    assert (again.code, again.steps()) == (0, {})
    with runs.sandbox.api() as api:
        assert len(api.items(PODS)) == 3


def test_one_changed_value_touches_only_what_it_should(runs: StackRuns, up: Any) -> None:
    def threshold(config: dict[str, Any]) -> None:
        config["gpu-inference:model_servers"][0]["autoscaler"]["kv_cache_usage"] = 0.8

    changed = runs.run("up", runs.stack_file(threshold))
    scaler = {SCALER: "update", "gpu-inference:index:Autoscaler::vllm-autoscaler": "update"}
    assert (changed.code, changed.steps()) == (0, scaler)

    def length(config: dict[str, Any]) -> None:
        threshold(config)
        config["gpu-inference:model_servers"][0] |= {"max_model_len": 8192, "max_num_seqs": 128}

    previewed = runs.run("preview", runs.stack_file(length))
    assert previewed.steps() == {
        SERVER: "update",
        "gpu-inference:index:ModelServer::vllm-llama3-70b": "update",
    }


BUDGET = "/apis/policy/v1/namespaces/ai-inference/poddisruptionbudgets/vllm-llama3-70b"
BUDGET_STEP = "kubernetes:policy/v1:PodDisruptionBudget::vllm-llama3-70b"


def test_refresh_finds_what_somebody_deleted_and_up_brings_it_back(runs: StackRuns, up: Any) -> None:
    with runs.sandbox.api() as api:
        api.delete(BUDGET)
    refreshed = runs.run("refresh", runs.stack_file())
    assert (refreshed.code, refreshed.outcomes()) == (0, {BUDGET_STEP: "delete"})
    again = runs.run("up", runs.stack_file())
    assert again.code == 0
    assert again.steps()[BUDGET_STEP] == "create"
    with runs.sandbox.api() as api:
        assert api.request("GET", BUDGET)["spec"]["maxUnavailable"] == 1


def test_what_somebody_else_owns_is_not_overwritten_silently(runs: StackRuns, up: Any) -> None:
    """docs/runbooks/field-conflict.md"""
    change = f"{BUDGET}?fieldManager=somebody"
    with runs.sandbox.api() as api:
        api.request("PATCH", change, {"spec": {"maxUnavailable": 2}}, "application/merge-patch+json")
    assert runs.run("refresh", runs.stack_file()).outcomes() == {BUDGET_STEP: "update"}
    refused = runs.run("up", runs.stack_file())
    assert refused.code == 1
    assert 'conflict with "somebody"' in refused.text
    assert ".spec.maxUnavailable" in refused.text
    with runs.sandbox.api() as api:
        api.delete(BUDGET)
    runs.run("refresh", runs.stack_file())
    assert runs.run("up", runs.stack_file()).code == 0


def test_destroy_leaves_no_object_and_no_process(runs: StackRuns, up: Any) -> None:
    destroyed = runs.run("destroy", runs.stack_file())
    assert destroyed.code == 0, destroyed.text
    with runs.sandbox.api() as api:
        names = {item["metadata"]["name"] for item in api.items("/api/v1/namespaces")}
        definitions = api.items("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        volumes = api.items("/api/v1/persistentvolumes")
    assert "ai-inference" not in names
    assert definitions == []
    assert volumes == []
    assert list(engine_processes(runs.folder)) == []
