"""The API server and the Python rules give the same verdict on an object: cases, and many odd combinations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.admission.registry import admission_rules
from policies.configuration import Configuration
from policies.evaluate import outcomes
from policies.loading import load
from policies.model import Resource, ResourceSet
from sandbox.control_plane import Sandbox
from tests.engine.admission_server import AdmissionServer, Answer, Object, collection
from tests.policies import builders

pytestmark = pytest.mark.engine

DATA = Path(__file__).parents[1] / "cases" / "data"
# What only a reader of shell scripts can decide.
NOT_SEEN_BY_CEL = {("016-hostnetwork-no-gloo-ifname", "hostnetwork-gloo-ifname")}
GPUS = "nvidia.com/gpu"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdmissionServer]:
    """Every policy of the default levels, warning instead of refusing so that each verdict shows.

    On an API server of its own: after another module has installed and deleted policies of these names, this one's were
    seen not to be asked any more.
    """
    sandbox = Sandbox(tmp_path_factory.mktemp("agreement") / "sandbox")
    sandbox.up()
    asked = AdmissionServer(sandbox)
    asked.install(Configuration(all_level="advisory"))
    expected = set(admission_rules()) - NOT_IN_EVERY_FAULT
    assert asked.until(EVERY_FAULT, rules=expected).rules == expected
    yield asked
    asked.remove()
    sandbox.down()


def judged(resource: Resource, verdict: str) -> set[str]:
    """The admission rules that give this verdict on the object by itself, as Python judges it."""
    alone = ResourceSet([resource])
    return {
        name
        for name, item in admission_rules().items()
        if resource.group_kind in item.rule.applies_to
        and any(row.verdict == verdict for row in outcomes(item.rule, resource, alone, Configuration()))
    }


def violated(resource: Resource) -> set[str]:
    return judged(resource, "violation")


def evaluation_errors(answer: Answer) -> dict[str, str]:
    return {rule: text for rule, text in answer.warnings.items() if "resulted in error" in text}


def workloads() -> list[tuple[str, Resource]]:
    found = []
    for path in sorted(DATA.glob("*/input.*")):
        for resource in load([str(path)]):
            if resource.is_kubernetes and collection(resource.kind):
                found.append((path.parent.name, resource))
    return found


@pytest.mark.parametrize(("case", "resource"), workloads(), ids=lambda value: getattr(value, "label", value))
def test_cases_get_the_same_verdict(server: AdmissionServer, case: str, resource: Resource) -> None:
    answer = server.dry_run(resource.body)
    expected = {rule for rule in violated(resource) if (case, rule) not in NOT_SEEN_BY_CEL}
    if answer.status == 422:  # the API server's own validation comes first
        assert expected == {"gpu-limit-required"}
        assert "Limit must be set" in answer.message
        return
    assert answer.status == 201, answer.message
    assert evaluation_errors(answer) == {}
    assert answer.rules == expected, answer.warnings


def test_clean_cases_are_admitted(server: AdmissionServer) -> None:
    for case, resource in workloads():
        if yaml.safe_load((DATA / case / "case.yaml").read_text(encoding="utf-8")).get("clean"):
            assert server.dry_run(resource.body).warnings == {}, case


def test_the_type_checker_of_the_api_server_finds_nothing(server: AdmissionServer) -> None:
    for policy in server.policies():
        warnings = policy.get("status", {}).get("typeChecking", {}).get("expressionWarnings", [])
        assert warnings == [], policy["metadata"]["name"]


# Combinations

IMAGES = [
    "vllm/vllm-openai:v0.33.0",
    "vllm/vllm-openai:v0.6.3",
    "vllm/vllm-openai",
    "registry.example:5000/mirror/vllm-openai:latest",
    "vllm/vllm-openai:nightly-0123abc@sha256:" + "a" * 64,
    "lmcache/vllm-openai:latest",
    "123456789012.dkr.ecr.us-east-1.amazonaws.com/deep-learning-containers/vllm:0.21-gpu",
    "example/inference:main",
    "example/my-vllm:dev-1.2",
    "vllm/vllm-openai:Nightly",
]
OPTIONS: list[list[str]] = [
    ["-tp", "4"],
    ["-tp=4"],
    ["--tensor-parallel-size", "4"],
    ["--tensor-parallel-size=8"],
    ["--tensor_parallel_size", "8"],
    ["--tensor-par", "2"],
    ["--tensor-parallel-size 4"],
    ["--tensor-parallel-size", "$(TP)"],
    ["-pp", "2"],
    ["--pipeline-parallel-size=2"],
    ["--data-parallel-size", "2"],
    ["-dp", "2"],
    ["--data-parallel-size-local=1"],
    ["--data-parallel-rank", "0"],
    ["--nnodes", "2"],
    ["--distributed-executor-backend", "ray"],
    ["--enable-prefix-caching"],
    ["--no-enable-prefix-caching"],
    ["--enable-prefix-caching", "--no-enable-prefix-caching"],
    ["--enable-prefix-caching=false"],
    ["--enable-prefix-caching", "False"],
    ["--no_enable_prefix_caching"],
    ["--runner", "pooling"],
    ["--task=embed"],
    ["--headless"],
    ["--api-key", "sk-made-up"],
    ["--api-key=EMPTY"],
    ["--api-key", "$(VLLM_API_KEY)"],
    ["--api-key"],
    ["--hf-token=hf_madeupmadeupmadeupmadeup"],
    ["--max-model-len 8192"],
    ["--served-model-name", "chat", "--port", "8000"],
    ["--speculative-config", '{"method": "ngram",\n "num_speculative_tokens": 4}'],
    ["--shutdown-timeout", "300"],
    ["--shutdown-timeout=10"],
    ["--config", "/etc/vllm.yaml"],
    ["$(EXTRA)"],
    ["--port=$PORT"],
    ["${MODEL}"],
    ["--omni"],
    ["--"],
]
ENVIRONMENT: list[Object] = [
    {"name": "HF_TOKEN", "value": "hf_madeupmadeupmadeupmadeup"},
    {"name": "HF_TOKEN", "value": "$(OTHER)"},
    {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
    {"name": "NOTE", "value": "hf_madeup/with/a/slash/in/it"},
    {"name": "ANY", "value": "hf_madeupmadeupmadeupmadeup"},
    {"name": "VLLM_API_KEY", "value": "made-up"},
    {"name": "VLLM_API_KEY", "value": "EMPTY"},
    {"name": "OPENAI_API_KEY", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
    {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
    {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
    {"name": "GLOO_SOCKET_IFNAME", "value": "^lo"},
    {"name": "GLOO_SOCKET_IFNAME", "value": "eth0"},
    {"name": "VLLM_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    {"name": "MASTER", "value": "${LWS_LEADER_ADDRESS}"},
    {"name": "EMPTY", "value": ""},
]
RESOURCES: list[Object] = [
    {},
    *({"limits": {GPUS: count}} for count in (1, 2, 4, "8")),
    {"limits": {GPUS: 8, "vpc.amazonaws.com/efa": 32}, "requests": {GPUS: 8, "memory": "64Gi"}},
    {"limits": {"amd.com/gpu": 4}},
    {"limits": {"nvidia.com/mig-1g.10gb": 1}},
    {"limits": {"aws.amazon.com/neuron": 4}},
    {"limits": {"cpu": "500m", "memory": "1Gi"}},
]
SHM_VOLUMES: list[Object | None] = [
    None,
    {"emptyDir": {}},
    {"emptyDir": {"medium": "Memory"}},
    *({"emptyDir": {"medium": "Memory", "sizeLimit": size}} for size in ("1Gi", "7.3Gi", "15Gi", "16000Mi", "30G")),
    {"hostPath": {"path": "/dev/shm/"}},
    {"hostPath": {"path": "/tmp/shm"}},
    {"persistentVolumeClaim": {"claimName": "shm"}},
]
PROBES: list[Object | None] = [
    None,
    {"httpGet": {"path": "/health", "port": 8000}},
    {"httpGet": {"path": "/health", "port": 8000}, "timeoutSeconds": 4, "periodSeconds": 10, "failureThreshold": 4},
    {"tcpSocket": {"port": 8000}},
]
HOOKS: list[Object | None] = [
    None,
    {"sleep": {"seconds": 15}},
    {"sleep": {"seconds": 40}},
    {"exec": {"command": ["sh", "-c", "sleep 5; sleep 20.5 && kill 1"]}},
    {"exec": {"command": ["/drain"]}},
    {"httpGet": {"path": "/drain", "port": 8000}},
]
FORMS: list[tuple[list[str] | None, list[str]]] = [
    (None, []),
    (None, ["serve"]),
    (None, ["bench"]),
    (None, ["--model"]),
    (["vllm", "serve"], []),
    (["/usr/bin/env", "vllm"], ["serve"]),
    (["python3", "-m", "vllm.entrypoints.openai.api_server"], ["--model"]),
    (["vllm", "bench", "serve"], []),
    (["nvidia-smi"], []),
    (["python3 -m vllm.entrypoints.openai.api_server --port 8000"], []),
    (["echo", "vllm", "serve"], []),
    (["sleep", "infinity"], []),
]


@st.composite
def containers(draw: st.DrawFn, name: str) -> Object:
    command, first = draw(st.sampled_from(FORMS))
    model = draw(st.sampled_from(["Qwen/Qwen3-8B", "BAAI/bge-m3", "$(MODEL)", "intfloat/e5-mistral-7b-instruct"]))
    options = draw(st.lists(st.sampled_from(OPTIONS), max_size=5))
    body: Object = {"name": name, "image": draw(st.sampled_from(IMAGES))}
    if command is not None:
        body["command"] = command
    body["args"] = [*first, model, *(word for option in options for word in option)]
    body["env"] = draw(st.lists(st.sampled_from(ENVIRONMENT), max_size=4))
    body["resources"] = draw(st.sampled_from(RESOURCES))
    for key, values in (("livenessProbe", PROBES), ("lifecycle", HOOKS)):
        if (value := draw(st.sampled_from(values))) is not None:
            body[key] = {"preStop": value} if key == "lifecycle" else value
    if draw(st.booleans()):
        body["volumeMounts"] = [{"name": "shm", "mountPath": draw(st.sampled_from(["/dev/shm", "/dev/shm/", "/shm"]))}]
    return body


@st.composite
def pods(draw: st.DrawFn) -> Object:
    found = [draw(containers("engine"))]
    if draw(st.integers(0, 3)) == 0:
        found.append(draw(containers("sidecar")))
    shm = draw(st.sampled_from(SHM_VOLUMES)) or {"emptyDir": {}}
    spec: Object = {"containers": found, "volumes": [{"name": "shm"} | shm], "hostNetwork": draw(st.booleans())}
    if draw(st.integers(0, 3)) == 0:
        spec["initContainers"] = [draw(containers("first"))]
        for key in ("livenessProbe", "lifecycle"):
            spec["initContainers"][0].pop(key, None)
    if draw(st.booleans()):
        spec["volumes"].append({"name": "ib", "hostPath": {"path": draw(st.sampled_from(["/dev/infiniband", "/dev"]))}})
    if draw(st.booleans()):
        spec["terminationGracePeriodSeconds"] = draw(st.sampled_from([20, 60, 600]))
    if draw(st.integers(0, 5)) == 0:
        spec["hostIPC"] = True
    return {"metadata": {"labels": {"app": "chat"}}, "spec": spec}


@st.composite
def objects(draw: st.DrawFn) -> Object:
    kind = draw(st.sampled_from(["Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "LeaderWorkerSet"]))
    return in_kind(kind, draw(pods()), draw(pods()), draw(st.sampled_from([None, "None", "Default", "X"])))


def in_kind(kind: str, pod: Object, other: Object, restart_policy: str | None) -> Object:
    """An object of a kind around a pod; a LeaderWorkerSet has two."""
    metadata = {"name": "chat", "namespace": "llm"}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": pod["spec"]}
    if kind == "LeaderWorkerSet":
        template: Object = {"size": 2, "leaderTemplate": pod, "workerTemplate": other}
        template |= {"restartPolicy": restart_policy} if restart_policy else {}
        spec: Object = {"replicas": 1, "leaderWorkerTemplate": template}
        return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
    if kind in ("Job", "CronJob"):
        once = {"metadata": {}, "spec": pod["spec"] | {"restartPolicy": "Never"}}
        spec = {"template": once}
        spec = spec if kind == "Job" else {"schedule": "0 0 * * *", "jobTemplate": {"spec": spec}}
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}
    spec = {"selector": {"matchLabels": {"app": "chat"}}, "template": pod}
    spec |= {"serviceName": "chat"} if kind == "StatefulSet" else {}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


# Where CEL leaves a question open that Python answers: it can't say what a variable's value is.
NOT_REFUSED = {
    "tp-matches-gpus",
    "shm-size",
    "grace-vs-drain",
    "hostnetwork-gloo-ifname",
    "prefix-caching-on",
    "secret-in-args",
}


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(manifest=objects())
def test_combinations_get_the_same_verdict(server: AdmissionServer, manifest: Object) -> None:
    answer = server.dry_run(manifest)
    if answer.status == 422:
        return
    assert answer.status == 201, answer.message
    (resource,) = builders.load(manifest)
    expected = violated(resource)
    assert evaluation_errors(answer) == {}
    # Python gives up on the object at the first container that it can't decide; CEL goes on to the next.
    has_several = json.dumps(manifest).count('"image"') > 1
    also = judged(resource, "undecided") if has_several else set()
    assert answer.rules <= expected | also, f"refused by the API server alone: {answer.rules - expected}"
    assert expected - answer.rules <= may_stay_open(manifest), f"not refused: {expected - answer.rules}"


def may_stay_open(manifest: Object) -> set[str]:
    text = json.dumps(manifest)
    hidden = NOT_REFUSED if "$(" in text or '"--config"' in text or '"ray"' in text else set()
    return hidden | ({"arg-embedded-space"} if '"--"' in text else set())


def scaled_object(*triggers: Object) -> Object:
    spec = {"scaleTargetRef": {"name": "chat"}, "triggers": list(triggers)}
    return builders.manifest("keda.sh/v1alpha1", "ScaledObject", "chat", spec)


def prometheus(**metadata: Any) -> Object:
    complete = {"serverAddress": "http://prometheus:9090", "query": "sum(vllm:num_requests_waiting)", "threshold": "5"}
    return {"type": "prometheus", "metadata": {k: v for k, v in (complete | metadata).items() if v is not None}}


CPU: Object = {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "60"}}
SCALERS = [
    scaled_object(prometheus()),
    scaled_object(prometheus(serverAddress=None)),
    scaled_object(prometheus(query=" ")),
    scaled_object(prometheus(threshold="five")),
    scaled_object(prometheus(threshold="1e3")),
    scaled_object(prometheus(threshold="0.85"), CPU),
    scaled_object(CPU),
    scaled_object(prometheus(query='sum(http_requests{name="vllm:x"})'), CPU),
    scaled_object(prometheus(query='max({__name__="vllm:num_requests_waiting"})')),
    builders.manifest(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "chat",
        {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"},
            "maxReplicas": 4,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}},
                },
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "vllm_num_requests_waiting"},
                        "target": {"type": "AverageValue", "averageValue": "5"},
                    },
                },
            ],
        },
    ),
]


@pytest.mark.parametrize("manifest", SCALERS, ids=range(len(SCALERS)))
def test_scalers_get_the_same_verdict(server: AdmissionServer, manifest: Object) -> None:
    (resource,) = builders.load(manifest)
    answer = server.dry_run(manifest)
    assert answer.status == 201, answer.message
    assert answer.rules == violated(resource), answer.warnings


EVERY_FAULT = in_kind(
    "LeaderWorkerSet",
    {
        "metadata": {},
        "spec": {
            "hostNetwork": True,
            "volumes": [{"name": "ib", "hostPath": {"path": "/dev/infiniband"}}],
            "containers": [
                {
                    "name": "engine",
                    "image": "vllm/vllm-openai:latest",
                    "args": [
                        "Qwen/Qwen3-8B",
                        *("-tp", "4", "-pp", "2", "--nnodes", "2", "--api-key", "made-up"),
                        *("--no-enable-prefix-caching", "--max-model-len 8192", "--port=$PORT"),
                    ],
                    "env": [
                        {"name": "HF_TOKEN", "value": "made-up"},
                        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
                    ],
                    "resources": {"requests": {GPUS: 8, "vpc.amazonaws.com/efa": 1}},
                    "livenessProbe": {"httpGet": {"path": "/health", "port": 8000}},
                },
                {
                    "name": "other",
                    "image": "vllm/vllm-openai:latest",
                    "command": ["vllm serve x"],
                    "env": [{"name": "GLOO_SOCKET_IFNAME", "value": "^lo"}],
                },
            ],
        },
    },
    {"metadata": {}, "spec": {"containers": [{"name": "worker", "image": "example/worker:1.0"}]}},
    "None",
)
NOT_IN_EVERY_FAULT = {"autoscale-signal", "keda-trigger-required-fields"}
