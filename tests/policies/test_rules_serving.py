"""Rules on flags, memory, start, drain, rollouts, images, secrets and volumes: all four answers and near misses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from policies.unknowns import Unknown
from tests.policies.manifests import (
    IMAGE,
    SECRET,
    changed,
    container,
    group,
    node_of_group,
    outcomes_of,
    pod,
    served,
    shared_memory,
    verdict,
    workload,
)

C0 = "spec.template.spec.containers.0"
LLAMA_70B = "meta-llama/Llama-3.3-70B-Instruct"
CLIENT = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "bench"},
    "spec": {"template": pod(containers=[container(command=["vllm", "bench", "serve"], args=["--backend", "x"])])},
}


def at_version(version: str, *args: str) -> dict[str, Any]:
    return served(*args, image=f"vllm/vllm-openai:{version}")


@pytest.mark.parametrize(
    ("version", "args", "expected"),
    [
        ("v0.33.0", ["m", "--max-model-l=8192"], "pass"),
        ("v0.33.0", ["m", "--max_model_len=8192"], "pass"),
        ("v0.33.0", ["m", "--enable-chunked-prefill"], "pass"),
        ("v0.33.0", ["m", "--enable-chunked-prefill=true"], "violation"),
        ("v0.33.0", ["m", "--enable-chunked-prefill=True"], "violation"),
        ("v0.33.0", ["m", "--enable-chunked-prefill", "true"], "violation"),
        ("v0.8.5", ["--model=m", "--enable-chunked-prefill=true"], "violation"),
        ("v0.6.3", ["--model=m", "--enable-chunked-prefill=true"], "pass"),
        ("v0.33.0", ["m", "--tensor-paralel-size=2"], "violation"),
        ("v0.33.0", ["m", "--no-enable-prefix-caching"], "pass"),
        ("v0.33.0", ["m", "--swap-space", "8"], "violation"),
        ("v0.21.0", ["m", "--swap-space", "8"], "violation"),
        ("v0.21.0", ["m", "--tensor-paralel-size=2"], "advice"),
        ("v0.19.1", ["m", "--shutdown-timeout=300"], "pass"),
        ("v0.17.0", ["m", "--shutdown-timeout=300"], "violation"),
        ("v0.33.0", ["m", "--dtype", "bf16"], "violation"),
        ("v0.33.0", ["m", "--dtype=bfloat16"], "pass"),
        ("v0.33.0", ["m", "-O3", "--speculative-config.method", "ngram"], "pass"),
        ("v0.33.0", ["m", '--kv-transfer-config={"kv_role": "kv_both"}'], "pass"),
        ("latest", ["m", "--no-such-flag"], "pass"),
    ],
)
def test_vllm_flag_valid(version: str, args: list[str], expected: str) -> None:
    assert verdict("vllm-flag-valid", at_version(version, *args)) == expected


def test_vllm_flag_valid_points_at_the_argument_and_leaves_clients_alone() -> None:
    (outcome,) = outcomes_of("vllm-flag-valid", at_version("v0.33.0", "m", "--swap-space", "8"))
    assert outcome.path[-2:] == ("args", 1)
    assert verdict("vllm-flag-valid", CLIENT) == "pass"
    assert verdict("vllm-flag-valid", changed(served("m"), f"{C0}.image", Unknown("image"))) == "undecided"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["m"], "pass"),
        (["m", "--enable-prefix-caching"], "pass"),
        (["m", "--no-enable-prefix-caching"], "violation"),
        (["m", "--disable-prefix-caching"], "violation"),
        (["m", "--no_enable_prefix_caching"], "violation"),
        (["m", "--no-enable-prefix-caching", "--runner=pooling"], "pass"),
        (["our/model", "--no-enable-prefix-caching", "--convert", "embed"], "pass"),
        (["BAAI/bge-m3", "--no-enable-prefix-caching"], "pass"),
        (["m", "--enable-prefix-caching", "false"], "violation"),
        (["m", "--enable-prefix-caching=false"], "violation"),
    ],
)
def test_prefix_caching_on(args: list[str], expected: str) -> None:
    assert verdict("prefix-caching-on", served(*args)) == expected


def test_prefix_caching_is_advised_where_the_version_leaves_it_off() -> None:
    assert verdict("prefix-caching-on", at_version("v0.6.3", "--model=m")) == "advice"
    assert verdict("prefix-caching-on", at_version("v0.6.3", "--model=m", "--enable-prefix-caching")) == "pass"
    assert verdict("prefix-caching-on", served("--model=$(M)", "--no-enable-prefix-caching")) == "violation"


@pytest.mark.parametrize(
    ("dtype", "node", "expected"),
    [
        ("fp8", "g5.2xlarge", "violation"),
        ("fp8_e4m3", "p4d.24xlarge", "violation"),
        ("fp8_e5m2", "g5.2xlarge", "advice"),
        ("fp8", "g6.2xlarge", "pass"),
        ("fp8", "p5.48xlarge", "pass"),
        ("auto", "g5.2xlarge", "pass"),
        ("fp8", None, "pass"),
        ("fp8", "m7i.large", "pass"),
    ],
)
def test_kv_dtype_gpu(dtype: str, node: str | None, expected: str) -> None:
    assert verdict("kv-dtype-gpu", served("m", f"--kv-cache-dtype={dtype}", node=node)) == expected


@pytest.mark.parametrize(
    ("arguments", "node", "expected"),
    [
        (["--kv-cache-dtype=fp8"], "p5.48xlarge", "advice"),
        (["--kv-cache-dtype", "fp8_e4m3"], "g6.2xlarge", "advice"),
        (["--kv-cache-dtype=fp8", "--calculate-kv-scales"], "p5.48xlarge", "pass"),
        (["--kv-cache-dtype=auto"], "p5.48xlarge", "pass"),
        (["--kv-cache-dtype=fp8"], "g5.2xlarge", "pass"),
        (["--kv-cache-dtype=fp8"], None, "pass"),
    ],
)
def test_fp8_kv_accuracy(arguments: list[str], node: str | None, expected: str) -> None:
    assert verdict("fp8-kv-accuracy", served("m", *arguments, node=node)) == expected


def test_kv_dtype_gpu_waits_for_the_node_and_leaves_amd_alone() -> None:
    body = served("m", "--kv-cache-dtype=fp8")
    assert verdict("kv-dtype-gpu", changed(body, "spec.template.spec.nodeSelector", Unknown("node"))) == "undecided"
    amd = changed(body, f"{C0}.resources", {"limits": {"amd.com/gpu": 1}})
    assert verdict("kv-dtype-gpu", changed(amd, "spec.template.spec.nodeSelector", {})) == "pass"


@pytest.mark.parametrize(
    ("args", "node", "expected"),
    [
        (["m", "--dtype=bfloat16"], "g4dn.xlarge", "violation"),
        (["m", "--dtype", "bfloat16"], "p3.8xlarge", "violation"),
        (["m", "--dtype=half"], "g4dn.xlarge", "pass"),
        (["m", "--dtype=bfloat16"], "g5.xlarge", "pass"),
        (["m", "--quantization=fp8"], "g5.xlarge", "advice"),
        (["m", "--dtype=$(DTYPE)"], "g4dn.xlarge", "pass"),
        (["m", "$EXTRA"], "g4dn.xlarge", "pass"),
        (["m", Unknown("dtype")], "g4dn.xlarge", "undecided"),
    ],
)
def test_dtype_gpu(args: list[Any], node: str, expected: str) -> None:
    assert verdict("dtype-gpu", served(*args, node=node)) == expected


@pytest.mark.parametrize(
    ("args", "gpus", "node", "expected"),
    [
        ([LLAMA_70B, "-tp=4"], 4, "p5.48xlarge", "pass"),
        ([LLAMA_70B, "-tp=2"], 2, "p5.48xlarge", "violation"),
        ([LLAMA_70B, "-tp=2", "--max-model-len=12k"], 2, "p5.48xlarge", "advice"),
        ([LLAMA_70B, "-tp=4"], 4, "g5.12xlarge", "violation"),
        ([LLAMA_70B, "-tp=2", "--max-model-len=auto", "--kv-cache-dtype=fp8"], 2, "p5e.48xlarge", "pass"),
        (["Qwen/Qwen3-8B"], 1, "g6.xlarge", "violation"),
        (["Qwen/Qwen3-8B", "--max-model-len=16384"], 1, "g6e.xlarge", "pass"),
        (["our/model"], 1, "g6.xlarge", "pass"),
        ([LLAMA_70B, "-tp=2"], 2, None, "pass"),
        ([LLAMA_70B, "-tp=2", "--cpu-offload-gb=80"], 2, "p5.48xlarge", "pass"),
        ([Unknown("model"), "-tp=2"], 2, "p5.48xlarge", "undecided"),
    ],
)
def test_model_fits(args: list[Any], gpus: int, node: str | None, expected: str) -> None:
    assert verdict("model-fits", served(*args, gpus=gpus, node=node)) == expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"limits": {"nvidia.com/gpu": 1}}, "pass"),
        ({"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": 1}}, "pass"),
        ({"requests": {"nvidia.com/gpu": 1}}, "violation"),
        ({"limits": {"nvidia.com/gpu": 1}, "requests": {"nvidia.com/gpu": 2}}, "violation"),
        ({"requests": {"nvidia.com/mig-1g.10gb": 1}}, "violation"),
        ({"requests": {"cpu": 1}}, "pass"),
        ({"limits": Unknown("limits"), "requests": {"nvidia.com/gpu": 1}}, "undecided"),
    ],
)
def test_gpu_limit_required(resources: dict[str, Any], expected: str) -> None:
    assert verdict("gpu-limit-required", served("m", resources=resources)) == expected


@pytest.mark.parametrize(
    ("value", "gpus", "expected"),
    [("all", 1, "violation"), ("0,1", 2, "violation"), ("void", 1, "pass"), ("all", 0, "pass"), (None, 1, "pass")],
)
def test_visible_devices_not_set(value: str | None, gpus: int, expected: str) -> None:
    env = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}] if value else []
    assert verdict("visible-devices-not-set", served("m", gpus=gpus, env=env)) == expected


@pytest.mark.parametrize(
    ("args", "env", "limit", "expected"),
    [
        (["m", "-tp=4"], {"LMCACHE_MAX_LOCAL_CPU_SIZE": "50"}, "256Gi", "pass"),
        (["m", "-tp=4"], {"LMCACHE_MAX_LOCAL_CPU_SIZE": "100"}, "256Gi", "violation"),
        (["m", "-tp=4", "--cpu-offload-gb=65"], {}, "256Gi", "violation"),
        (["m", "-tp=4", "--kv-offloading-size=100"], {}, "256Gi", "pass"),
        (["m", "-tp=4", "--kv-offloading-size=150"], {}, "256Gi", "advice"),
        (["m", "-tp=4", "--kv-offloading-size=300"], {}, "256Gi", "violation"),
        (["m", "-tp=4"], {}, "8Gi", "violation"),
        (["m", "-tp=4"], {}, None, "pass"),
        (["m", "-tp=4"], {"LMCACHE_MAX_LOCAL_CPU_SIZE": Unknown("env")}, "256Gi", "undecided"),
    ],
)
def test_host_memory_budget(args: list[str], env: dict[str, Any], limit: str | None, expected: str) -> None:
    limits = {"nvidia.com/gpu": 4} | ({"memory": limit} if limit else {})
    rows = [{"name": name, "value": value} for name, value in env.items()]
    body = served(*args, gpus=4, env=rows, resources={"limits": limits}, **shared_memory("16Gi"))
    assert verdict("host-memory-budget", body) == expected


def test_host_memory_counts_the_bytes_of_an_offloading_connector() -> None:
    extra = json.dumps({"kv_connector_extra_config": {"cpu_bytes_to_use": 300 * 2**30}})
    limits = {"nvidia.com/gpu": 1, "memory": "256Gi"}
    body = served("m", f"--kv-transfer-config={extra}", resources={"limits": limits})
    assert verdict("host-memory-budget", body) == "violation"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["m", "--port 8000"], "violation"),
        (["m", '--kv-transfer-config {"a": 1}'], "violation"),
        (["m", '--kv-transfer-config={"a": 1}'], "pass"),
        (["m", "--served-model-name=our model"], "pass"),
        (["m", "--chat-template", "{% if x %} --y {% endif %}"], "pass"),
        ([Unknown("arg"), "--port 8000"], "violation"),
    ],
)
def test_arg_embedded_space(args: list[Any], expected: str) -> None:
    assert verdict("arg-embedded-space", served(*args)) == expected


@pytest.mark.parametrize(
    ("command", "args", "expected"),
    [
        (["vllm serve m --port 8000"], None, "violation"),
        (["python3 -m vllm.entrypoints.openai.api_server"], ["--model=m"], "violation"),
        (["sh", "-c", "vllm serve m --port 8000"], None, "pass"),
        (["/bin/sh", "-c"], ["vllm serve m --port 8000"], "pass"),
        (None, ["m --tensor-parallel-size 2"], "violation"),
        (None, ["m", "--port", "8000"], "pass"),
        (["/opt/My App/run"], None, "pass"),
        ([Unknown("command")], None, "undecided"),
    ],
)
def test_exec_command_single_string(command: list[Any] | None, args: list[str] | None, expected: str) -> None:
    assert verdict("exec-command-single-string", served(command=command, args=args)) == expected


@pytest.mark.parametrize(
    ("env", "command", "args", "expected"),
    [
        ("$HF_TOKEN", None, ["m"], "violation"),
        ("${HF_TOKEN}", None, ["m"], "violation"),
        ("$(HF_TOKEN)", None, ["m"], "pass"),
        ("/usr/lib:$LD_LIBRARY_PATH", None, ["m"], "advice"),
        ("plain", None, ["m", "--port=$PORT"], "violation"),
        ("plain", None, ["$MODEL"], "violation"),
        ("plain", ["sh", "-c", "vllm serve $MODEL --port=$PORT"], None, "pass"),
        ("costs 5$", None, ["m"], "pass"),
        (Unknown("env"), None, ["m"], "undecided"),
    ],
)
def test_env_literal_shell_var(env: Any, command: list[str] | None, args: list[str] | None, expected: str) -> None:
    body = served(command=command, args=args, env=[{"name": "X", "value": env}])
    assert verdict("env-literal-shell-var", body) == expected


def test_env_literal_shell_var_leaves_other_containers_alone() -> None:
    other = container(image="busybox:1.36", env=[{"name": "X", "value": "$Y"}], args=None, resources=None)
    assert verdict("env-literal-shell-var", workload(pod(containers=[container(), other]))) == "pass"


def probe(seconds: int, period: int = 10, **more: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": "/health", "port": 8000},
        "periodSeconds": period,
        "failureThreshold": seconds // period,
    } | more


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"startupProbe": probe(1800)}, "pass"),
        ({"startupProbe": probe(150, 5)}, "violation"),
        ({"startupProbe": probe(300)}, "advice"),
        ({"startupProbe": probe(150, initialDelaySeconds=600)}, "pass"),
        ({"startupProbe": None, "livenessProbe": probe(60)}, "violation"),
        ({"startupProbe": None, "livenessProbe": probe(60, initialDelaySeconds=900)}, "pass"),
        ({"startupProbe": None, "livenessProbe": None}, "pass"),
        ({"startupProbe": probe(150) | {"failureThreshold": Unknown("x")}}, "undecided"),
    ],
)
def test_startup_budget(changes: dict[str, Any], expected: str) -> None:
    assert verdict("startup-budget", served(LLAMA_70B, "-tp=4", gpus=4, **changes)) == expected


def test_startup_budget_says_nothing_of_a_model_that_it_does_not_know() -> None:
    assert verdict("startup-budget", served("our/model", startupProbe=probe(20))) == "pass"


@pytest.mark.parametrize(
    ("model", "env", "expected"),
    [
        ("deepseek-ai/DeepSeek-V3", [], "violation"),
        ("deepseek-ai/DeepSeek-V3", [{"name": "VLLM_ENGINE_READY_TIMEOUT_S", "value": "3600"}], "pass"),
        ("deepseek-ai/DeepSeek-V3", [{"name": "VLLM_ENGINE_READY_TIMEOUT_S", "value": 900}], "violation"),
        ("deepseek-ai/DeepSeek-V3", [{"name": "VLLM_ENGINE_READY_TIMEOUT_S", "value": Unknown("x")}], "undecided"),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", [], "advice"),
        (LLAMA_70B, [], "pass"),
        ("our/model", [], "pass"),
    ],
)
def test_engine_ready_timeout(model: str, env: list[Any], expected: str) -> None:
    assert verdict("engine-ready-timeout", served(model, "-tp=8", gpus=8, env=env)) == expected


def test_engine_ready_timeout_reads_the_start_script() -> None:
    script = "export VLLM_ENGINE_READY_TIMEOUT_S=5400\nexec vllm serve deepseek-ai/DeepSeek-V3 -tp 8"
    assert verdict("engine-ready-timeout", served(command=["sh", "-c", script], args=None, gpus=8)) == "pass"


@pytest.mark.parametrize(
    ("liveness", "expected"),
    [
        ({"httpGet": {"path": "/health"}, "periodSeconds": 5}, "violation"),
        ({"httpGet": {"path": "/health"}}, "violation"),
        ({"httpGet": {"path": "/health"}, "timeoutSeconds": 2, "failureThreshold": 12}, "advice"),
        ({"httpGet": {"path": "/health"}, "timeoutSeconds": 5}, "pass"),
        ({"httpGet": {"path": "/health"}, "timeoutSeconds": 5, "failureThreshold": 1}, "violation"),
        ({"httpGet": {"path": "/health"}, "timeoutSeconds": 30, "failureThreshold": 1}, "pass"),
        ({"tcpSocket": {"port": 8000}}, "pass"),
        (None, "pass"),
        (Unknown("livenessProbe"), "undecided"),
    ],
)
def test_liveness_tolerance(liveness: Any, expected: str) -> None:
    assert verdict("liveness-tolerance", served("m", livenessProbe=liveness)) == expected


SLEEP_15 = {"preStop": {"sleep": {"seconds": 15}}}
EXEC_SLEEP = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "sleep 15"]}}}


@pytest.mark.parametrize(
    ("lifecycle", "args", "grace", "expected"),
    [
        (SLEEP_15, ["m", "--shutdown-timeout=300"], 360, "pass"),
        (EXEC_SLEEP, ["m", "--shutdown-timeout", "300"], 360, "pass"),
        (SLEEP_15, ["m", "--shutdown-timeout=300"], 300, "violation"),
        (SLEEP_15, ["m", "--shutdown-timeout=300"], 315, "advice"),
        (SLEEP_15, ["m", "--shutdown-timeout=300"], None, "violation"),
        (None, ["m"], 30, "violation"),
        (None, ["m"], 600, "violation"),
        (None, ["m", "--shutdown-timeout=300"], 360, "advice"),
        (SLEEP_15, ["m"], 360, "advice"),
        ({"preStop": {"exec": {"command": ["/drain"]}}}, ["m"], 30, "pass"),
        (SLEEP_15, ["m", "--shutdown-timeout=300"], Unknown("grace"), "undecided"),
    ],
)
def test_grace_vs_drain(lifecycle: Any, args: list[str], grace: Any, expected: str) -> None:
    template = pod(containers=[container(args=args, lifecycle=lifecycle)], terminationGracePeriodSeconds=grace)
    assert verdict("grace-vs-drain", workload(template)) == expected


def test_grace_vs_drain_is_no_business_of_a_job() -> None:
    assert verdict("grace-vs-drain", CLIENT) == "pass"


def rolling(surge: Any, unavailable: Any) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


@pytest.mark.parametrize(
    ("strategy", "replicas", "cluster_gpus", "expected"),
    [
        (None, 1, 2, "violation"),
        (None, 1, 4, "pass"),
        (None, 1, None, "advice"),
        (None, 4, 8, "pass"),
        ({"type": "Recreate"}, 1, 2, "pass"),
        (rolling(0, 1), 1, 2, "pass"),
        (rolling("0%", "100%"), 1, 2, "pass"),
        (rolling("50%", 0), 2, 4, "violation"),
        (rolling(1, 0), 2, 6, "pass"),
        (None, Unknown("replicas"), 2, "undecided"),
    ],
)
def test_rollout_strategy(strategy: Any, replicas: Any, cluster_gpus: int | None, expected: str) -> None:
    body = workload(
        served("m", gpus=2)["spec"]["template"], replicas=replicas, **({"strategy": strategy} if strategy else {})
    )
    context = {"cluster_gpus": cluster_gpus} if cluster_gpus else None
    assert verdict("rollout-strategy", body, context=context) == expected


def test_rollout_strategy_counts_the_other_workloads_and_the_autoscaler() -> None:
    one = workload(served("m", gpus=2)["spec"]["template"], replicas=1)
    other = changed(changed(one, "metadata.name", "other"), "spec.strategy", {"type": "Recreate"})
    assert verdict("rollout-strategy", one, context={"cluster_gpus": 4}) == "pass"
    assert verdict("rollout-strategy", one, other, context={"cluster_gpus": 4}) == "violation"
    scaler = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "s", "namespace": "llm"},
              "spec": {"scaleTargetRef": {"name": "chat"}, "minReplicaCount": 2, "maxReplicaCount": 4}}  # fmt: skip
    assert verdict("rollout-strategy", one, scaler, context={"cluster_gpus": 4}) == "violation"
    cpu = workload(served("m", gpus=0, resources={})["spec"]["template"])
    assert verdict("rollout-strategy", cpu, context={"cluster_gpus": 0}) == "pass"


IN_CHAT = {"key": "app", "operator": "In", "values": ["chat"]}


def budget(**spec: Any) -> dict[str, Any]:
    body = {"selector": {"matchLabels": {"app": "chat"}}} | spec
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "llm"},
        "spec": body,
    }


@pytest.mark.parametrize(
    ("spec", "replicas", "expected"),
    [
        ({"minAvailable": 1}, 1, "violation"),
        ({"minAvailable": 1}, 2, "pass"),
        ({"minAvailable": "100%"}, 3, "violation"),
        ({"minAvailable": "60%"}, 2, "violation"),
        ({"minAvailable": "50%"}, 2, "pass"),
        ({"maxUnavailable": 0}, 3, "violation"),
        ({"maxUnavailable": "0%"}, 3, "violation"),
        ({"maxUnavailable": 1}, 1, "pass"),
        ({"maxUnavailable": "10%"}, 2, "pass"),
        ({"minAvailable": 1, "selector": {"matchLabels": {"app": "other"}}}, 1, "pass"),
        ({"minAvailable": 1, "selector": {"matchExpressions": [IN_CHAT]}}, 1, "violation"),
        ({"minAvailable": Unknown("minAvailable")}, 1, "undecided"),
    ],
)  # fmt: skip
def test_pdb_allows_drain(spec: dict[str, Any], replicas: int, expected: str) -> None:
    assert verdict("pdb-allows-drain", workload(replicas=replicas), budget(**spec)) == expected


def pool(**disruption: Any) -> dict[str, Any]:
    requirement = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge"]}
    spec = {"disruption": disruption, "template": {"spec": {"requirements": [requirement]}}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpu"}, "spec": spec}


def test_gpu_node_disruption() -> None:
    rule, busy = "gpu-node-disruption", pool(consolidationPolicy="WhenEmptyOrUnderutilized")
    kept = changed(workload(), "spec.template.metadata.annotations", {"karpenter.sh/do-not-disrupt": "true"})
    cpu = changed(busy, "spec.template.spec.requirements.0.values", ["m7i.large"])
    assert verdict(rule, busy, workload()) == "violation"
    assert verdict(rule, pool(), workload()) == "violation"
    assert verdict(rule, busy) == "advice"
    assert verdict(rule, busy, kept) == "pass"
    assert verdict(rule, pool(consolidationPolicy="WhenEmpty"), workload()) == "pass"
    assert verdict(rule, pool(budgets=[{"nodes": "0"}]), workload()) == "pass"
    assert verdict(rule, pool(budgets=[{"nodes": "0", "schedule": "0 9 * * *"}]), workload()) == "violation"
    assert verdict(rule, cpu, workload()) == "pass"
    assert verdict(rule, pool(consolidationPolicy=Unknown("policy")), workload()) == "undecided"


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (IMAGE, "pass"),
        ("vllm/vllm-openai:v0.33.0", "pass"),
        ("vllm/vllm-openai", "violation"),
        ("vllm/vllm-openai:latest", "violation"),
        ("vllm/vllm-openai:latest-x86_64", "violation"),
        ("vllm/vllm-openai:cu130-nightly", "violation"),
        ("ours/vllm:release-2026.11", "pass"),
        ("ours/vllm:main-3f2a1bc", "pass"),
        ("vllm/vllm-openai:nightly", "violation"),
        ("vllm/vllm-openai:nightly-8f5c1e2a9b7d", "pass"),
        ("vllm/vllm-openai@sha256:" + "a" * 64, "pass"),
        ("vllm/vllm-openai:latest@sha256:" + "a" * 64, "pass"),
        ("registry.internal:5000/vllm", "violation"),
        ("registry.internal:5000/vllm:2026.11", "pass"),
        (Unknown("image"), "undecided"),
    ],
)
def test_image_pinned(image: Any, expected: str) -> None:
    assert verdict("image-pinned", served("m", image=image)) == expected


def test_image_pinned_only_advises_on_sidecars_and_leaves_other_pods_alone() -> None:
    sidecar = {"name": "log", "image": "busybox"}
    assert verdict("image-pinned", workload(pod(containers=[container(), sidecar]))) == "advice"
    assert verdict("image-pinned", workload(pod(containers=[sidecar]))) == "pass"


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("vllm/vllm-openai:v0.33.0", "pass"),
        ("vllm/vllm-openai:v0.34.0", "pass"),
        ("vllm/vllm-openai:v0.8.5.post1", "violation"),
        ("mirror.internal/vllm/vllm-openai:v0.8.5-cu124", "violation"),
        ("rocm/vllm:rocm7.0_vllm_0.11.0", "violation"),
        ("lmcache/vllm-openai:v0.3.1", "pass"),
        ("ours/server:v0.8.5", "pass"),
        ("vllm/vllm-openai:latest", "pass"),
        (Unknown("image"), "undecided"),
    ],
)
def test_image_cve(image: Any, expected: str) -> None:
    assert verdict("image-cve", served("m", image=image)) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"name": "HF_TOKEN", "valueFrom": SECRET}, "pass"),
        ({"name": "HF_TOKEN", "value": "hf_abcdefghijklmnopqrstuvwx"}, "violation"),
        ({"name": "HUGGING_FACE_HUB_TOKEN", "value": "x"}, "violation"),
        ({"name": "ANYTHING", "value": "hf_abcdefghijklmnopqrstuvwx"}, "violation"),
        ({"name": "HF_TOKEN", "value": ""}, "pass"),
        ({"name": "HF_TOKEN", "value": "$(OTHER)"}, "pass"),
        ({"name": "HF_TOKEN", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}, "advice"),
        ({"name": "HF_TOKEN", "value": Unknown("env[0].value")}, "undecided"),
        ({"name": "HF_HOME", "value": "/models"}, "pass"),
    ],
)
def test_hf_token_secret(row: dict[str, Any], expected: str) -> None:
    assert verdict("hf-token-secret", served("m", env=[row])) == expected


def test_hf_token_secret_reads_init_containers_and_scripts_and_never_shows_the_token() -> None:
    token = "hf_abcdefghijklmnopqrstuvwx"
    init = {"name": "download", "image": "x:1", "env": [{"name": "HF_TOKEN", "value": token}]}
    script = served(command=["sh", "-c", f"export HF_TOKEN={token}; vllm serve m"], args=None, env=[])
    by_reference = served(command=["sh", "-c", "export HF_TOKEN=$TOKEN; vllm serve m"], args=None, env=[])
    for body in (workload(pod(initContainers=[init])), script):
        (outcome,) = outcomes_of("hf-token-secret", body)
        assert outcome.verdict == "violation"
        assert token not in outcome.message
    assert verdict("hf-token-secret", by_reference) == "pass"


@pytest.mark.parametrize(
    ("args", "env", "expected"),
    [
        (["m", "--api-key", "sk-literal-0000"], [], "violation"),
        (["m", "--api-key=sk-literal-0000"], [], "violation"),
        (["m", "--hf-token", "hf_x"], [], "violation"),
        (["m", "--api-key=$(KEY)"], [{"name": "KEY", "valueFrom": SECRET}], "advice"),
        (["m"], [{"name": "VLLM_API_KEY", "valueFrom": SECRET}], "pass"),
        (["m"], [{"name": "VLLM_API_KEY", "value": "sk-literal-0000"}], "violation"),
        (["m"], [{"name": "OPENAI_API_KEY", "value": "EMPTY"}], "pass"),
        (["m"], [{"name": "VLLM_API_KEY", "value": Unknown("x")}], "undecided"),
        (["m"], [], "pass"),
    ],
)
def test_secret_in_args(args: list[str], env: list[Any], expected: str) -> None:
    found = outcomes_of("secret-in-args", served(*args, env=env))
    assert verdict("secret-in-args", served(*args, env=env)) == expected
    assert not any("sk-literal" in row.message for row in found)


def service(name: str = "vllm", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "llm"}, "spec": spec}


LINKED = changed(workload(), "spec.template.spec.enableServiceLinks", True)
OWN_PORT = changed(LINKED, f"{C0}.env", [{"name": "VLLM_PORT", "value": "8004"}])


@pytest.mark.parametrize(
    ("bodies", "name_verdict", "links_verdict"),
    [
        ([service(), LINKED], "violation", "violation"),
        ([service(), workload()], "advice", "pass"),
        ([service(), OWN_PORT], "advice", "pass"),
        ([service()], "violation", "pass"),
        ([service("vllm-api"), LINKED], "pass", "advice"),
        ([service(clusterIP="None"), LINKED], "pass", "advice"),
        ([changed(service(), "metadata.namespace", "other"), LINKED], "advice", "advice"),
        ([changed(LINKED, "spec.template.spec.enableServiceLinks", Unknown("x"))], "pass", "undecided"),
        ([service(), CLIENT], "advice", "pass"),
    ],
)
def test_service_name_and_links(bodies: list[Any], name_verdict: str, links_verdict: str) -> None:
    assert verdict("service-name-vllm", *bodies) == name_verdict
    assert verdict("service-links-off", *bodies) == links_verdict


def claim(*modes: Any) -> dict[str, Any]:
    body = {"accessModes": list(modes)}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "w", "namespace": "llm"},
        "spec": body,
    }


def sharing(replicas: Any, node: str | None = "g6e.xlarge") -> dict[str, Any]:
    return workload(
        pod(node=node, volumes=[{"name": "w", "persistentVolumeClaim": {"claimName": "w"}}]), replicas=replicas
    )


@pytest.mark.parametrize(
    ("modes", "body", "expected"),
    [
        (["ReadWriteOnce"], sharing(3), "violation"),
        (["ReadWriteOnce"], sharing(3, node=None), "violation"),
        (["ReadWriteOnce"], sharing(3, node="p5.48xlarge"), "advice"),
        (["ReadWriteOncePod"], sharing(3, node="p5.48xlarge"), "violation"),
        (["ReadWriteMany"], sharing(3), "pass"),
        (["ReadWriteOnce", "ReadOnlyMany"], sharing(3), "pass"),
        (["ReadWriteOnce"], sharing(1), "pass"),
        (["ReadWriteOnce"], workload(replicas=3), "pass"),
        (["ReadWriteOnce"], sharing(Unknown("replicas")), "undecided"),
    ],
)
def test_pvc_access_mode(modes: list[str], body: dict[str, Any], expected: str) -> None:
    assert verdict("pvc-access-mode", claim(*modes), body) == expected


def test_pvc_access_mode_counts_the_pods_of_a_group() -> None:
    template = changed(node_of_group(), "spec.volumes", [{"name": "w", "persistentVolumeClaim": {"claimName": "w"}}])
    assert verdict("pvc-access-mode", claim("ReadWriteOnce"), group(template)) == "violation"


def cached(home: str | None, mount: dict[str, Any] | None, model: str = LLAMA_70B, **more: Any) -> dict[str, Any]:
    env = [{"name": "HF_HOME", "value": home}] if home else []
    mounts = [{"name": "c", "mountPath": "/cache"} | mount] if mount is not None else []
    volumes = [{"name": "c", "persistentVolumeClaim": {"claimName": "hub"}}]
    env += more.pop("env", [])
    return served(model, "-tp=4", gpus=4, env=env, volumeMounts=mounts, volumes=volumes, **more)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (cached("/cache", {}), "pass"),
        (cached("/cache", {"readOnly": True}), "violation"),
        (cached("/cache/hub/", {"readOnly": True}), "violation"),
        (cached("/cache", {"readOnly": True}, env=[{"name": "HF_HUB_OFFLINE", "value": "1"}]), "pass"),
        (cached("/cache", {"readOnly": True}, model="/cache/llama"), "pass"),
        (cached("/cache", {"readOnly": True}, model="s3://bucket/llama"), "pass"),
        (cached("/elsewhere", {"readOnly": True}), "pass"),
        (cached(None, None, securityContext={"readOnlyRootFilesystem": True}), "violation"),
        (cached(None, {"mountPath": "/home/vllm/.cache", "readOnly": True}), "violation"),
        (cached("/cache", {"readOnly": Unknown("readOnly")}), "undecided"),
    ],
)
def test_hf_cache_writable(body: dict[str, Any], expected: str) -> None:
    assert verdict("hf-cache-writable", body) == expected


@pytest.mark.parametrize(
    ("user", "changes", "expected"),
    [
        (1000, {}, "violation"),
        (1000, {"env": [{"name": "HOME", "value": "/tmp"}]}, "pass"),
        (1000, {"env": [{"name": "TRITON_CACHE_DIR", "value": "/tmp/t"}]}, "pass"),
        (1000, {"volumeMounts": [{"mountPath": "/.triton"}, {"mountPath": "/.config"}]}, "pass"),
        (1000, {"volumeMounts": [{"mountPath": "/.cache"}]}, "violation"),
        (1000, {"image": "ours/vllm:1", "command": ["vllm", "serve", "m"]}, "advice"),
        (2000, {}, "pass"),
        (0, {}, "pass"),
        (None, {}, "pass"),
        (Unknown("runAsUser"), {}, "undecided"),
    ],
)
def test_nonroot_writable_cache(user: Any, changes: dict[str, Any], expected: str) -> None:
    body = changed(served("m", **changes), "spec.template.spec.securityContext", {"runAsUser": user})
    assert verdict("nonroot-writable-cache", body) == expected


NO_DISK = {"resources": {"limits": {"nvidia.com/gpu": 4}}}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (cached("/cache", {}, **NO_DISK), "pass"),
        (cached("/data/hub", {}, **NO_DISK), "violation"),
        (cached(None, {}, **NO_DISK), "violation"),
        (cached(None, {}, model="/cache/llama", **NO_DISK), "pass"),
        (cached(None, {}, model="Qwen/Qwen3-8B", **NO_DISK), "advice"),
        (cached(None, {}, model="our/model", **NO_DISK), "advice"),
        (cached(None, {}), "pass"),
        (cached(None, {}, model="deepseek-ai/DeepSeek-V3"), "advice"),
        (cached(None, {}, env=[{"name": "HF_HUB_CACHE", "value": Unknown("x")}], **NO_DISK), "undecided"),
    ],
)
def test_model_cache_on_volume(body: dict[str, Any], expected: str) -> None:
    assert verdict("model-cache-on-volume", body) == expected
