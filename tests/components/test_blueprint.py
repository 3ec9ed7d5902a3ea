"""The article's workload: rendered for the version that it was written for, and for today's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from catalog.vllm_flags import check_argument
from catalog.vllm_versions import vllm_version
from components.manifests.deployment import deployment_body
from components.manifests.pod_disruption_budget import pod_disruption_budget_body
from components.manifests.pod_monitor import pod_monitor_body
from components.manifests.scaled_object import scaled_object_body
from components.manifests.service import service_body
from components.model_server_plan import ModelServerPlan
from infra.node_capacity import maximum_replicas
from infra.plans import plan
from tests.stack_files import settings

# The article's first manifest, argument by argument.
ARTICLE_ARGUMENTS = [
    "--model=meta-llama/Meta-Llama-3.1-70B-Instruct",
    "--tensor-parallel-size=4",
    "--gpu-memory-utilization=0.92",
    "--max-model-len=16384",
    "--max-num-batched-tokens=8192",
    "--enable-chunked-prefill=true",
    "--enable-prefix-caching",
    "--kv-cache-dtype=fp8",
    "--trust-remote-code",
    "--port=8000",
]
ARTICLE_ENVIRONMENT = [
    {
        "name": "HUGGING_FACE_HUB_TOKEN",
        "valueFrom": {"secretKeyRef": {"name": "hf-token-secret", "key": "token"}},
    },
    {"name": "NCCL_DEBUG", "value": "INFO"},
]


def decided(version: str) -> ModelServerPlan:
    found = settings(lambda server: server.update(vllm_version=version))
    return plan(found, found.model_servers[0]).plan


def objects(version: str) -> dict[str, Any]:
    server = decided(version)
    found = settings(lambda entry: entry.update(vllm_version=version))
    most = maximum_replicas(found, found.model_servers[0])
    return {
        "Deployment": deployment_body(server, "pvc-hf-model-cache"),
        "Service": service_body(server),
        "PodDisruptionBudget": pod_disruption_budget_body(server),
        "PodMonitor": pod_monitor_body(server),
        "ScaledObject": scaled_object_body(server, most, found.monitoring.prometheus_address),
    }


@pytest.mark.parametrize("version", ["0.6.3", "0.33.0"])
def test_objects_are_as_decided(version: str, golden: Callable[[str, Any], None]) -> None:
    golden(f"blueprint-vllm-{version}.yaml", objects(version))


def test_what_the_version_decides_is_the_articles_for_its_version() -> None:
    container = objects("v0.6.3")["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "vllm/vllm-openai:v0.6.3"
    assert container["command"] == ["python3", "-m", "vllm.entrypoints.openai.api_server"]
    assert container["args"] == ARTICLE_ARGUMENTS
    assert container["env"] == ARTICLE_ENVIRONMENT
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {"model-cache": "/root/.cache/huggingface", "dshm": "/dev/shm"}
    queries = [trigger["metadata"]["query"] for trigger in objects("v0.6.3")["ScaledObject"]["spec"]["triggers"]]
    assert queries[0].startswith("sum(vllm:num_requests_waiting{")
    assert queries[1].startswith("max(vllm:gpu_cache_usage_perc{")


def test_the_articles_arguments_would_kill_todays_server() -> None:
    """Why the catalog decides the form: argparse refuses a value for a switch, exit code 2."""
    with pytest.raises(ValueError, match=r"takes no value in vLLM 0\.33\.0"):
        check_argument(vllm_version("0.33.0"), "--enable-chunked-prefill=true")


@pytest.mark.parametrize("version", ["0.6.3", "0.11.2", "0.20.0", "0.28.0", "0.33.0"])
def test_every_flag_is_one_of_the_versions_real_parser(version: str) -> None:
    arguments = objects(version)["Deployment"]["spec"]["template"]["spec"]["containers"][0]["args"]
    flags = [argument for argument in arguments if argument.startswith("-")]
    for argument in flags:
        flag = check_argument(vllm_version(version), argument)
        # Spelled out: an abbreviation is legal until the next version adds a second match.
        assert argument.partition("=")[0] in flag.spellings
        assert ("=" in argument) or not flag.takes_value or flag.nargs == "?"
    positional = [argument for argument in arguments if not argument.startswith("-")]
    assert positional == (
        ["meta-llama/Meta-Llama-3.1-70B-Instruct"] if vllm_version(version).model_is_positional else []
    )


@pytest.mark.parametrize("version", ["0.6.3", "0.33.0"])
def test_the_scalers_metrics_exist_in_the_version(version: str) -> None:
    known = vllm_version(version).metrics
    for trigger in objects(version)["ScaledObject"]["spec"]["triggers"]:
        name = trigger["metadata"]["query"].partition("(")[2].partition("{")[0]
        assert name in known


@pytest.mark.parametrize("version", ["0.6.3", "0.33.0"])
def test_drain_fits_into_the_grace_period(version: str) -> None:
    server = decided(version)
    pod = deployment_body(server, "claim")["spec"]["template"]["spec"]
    wait = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = next(
        (int(a.partition("=")[2]) for a in pod["containers"][0]["args"] if a.startswith("--shutdown-timeout=")), 0
    )
    assert wait + drain >= 300
    assert pod["terminationGracePeriodSeconds"] > wait + drain


def test_one_startup_budget_reaches_every_deadline() -> None:
    server = decided("0.33.0")
    spec = deployment_body(server, "claim")["spec"]
    container = spec["template"]["spec"]["containers"][0]
    probe = container["startupProbe"]
    budget = probe["periodSeconds"] * probe["failureThreshold"]
    ready = next(int(e["value"]) for e in container["env"] if e["name"] == "VLLM_ENGINE_READY_TIMEOUT_S")
    assert server.startup_budget_seconds <= budget == ready < spec["progressDeadlineSeconds"]


def test_replicas_are_left_to_the_autoscaler() -> None:
    assert "replicas" not in objects("0.33.0")["Deployment"]["spec"]


def test_the_maximum_is_what_the_nodes_hold() -> None:
    assert objects("0.33.0")["ScaledObject"]["spec"]["maxReplicaCount"] == 4


def test_todays_image_runs_without_root_and_can_write_its_caches() -> None:
    pod = objects("0.33.0")["Deployment"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 2000
    mounts = {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    # A mount below ~/.cache makes ~/.cache root's, unless that is a volume of its own.
    assert {"/home/vllm/.cache", "/home/vllm/.cache/huggingface"} <= mounts
