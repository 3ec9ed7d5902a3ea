"""Small manifests for tests of rules, and what a rule says about them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from policies.configuration import Configuration
from policies.evaluate import outcomes
from policies.loading import pulumi_resource
from policies.model import Outcome, Resource, ResourceSet
from policies.registry import rules

IMAGE = "vllm/vllm-openai:v0.33.0@sha256:77bfb59c75218a606950920f964cc3fd9a9296caaebe4d20a19f87cc116f721e"
EFA_IMAGE = "public.ecr.aws/deep-learning-containers/vllm:server-cuda-v2.3"
NODE_LABEL = "node.kubernetes.io/instance-type"
SECRET = {"secretKeyRef": {"name": "hf-token", "key": "token"}}


def container(**changes: Any) -> dict[str, Any]:
    """A container that serves an 8B model on one GPU and breaks no rule; ``None`` removes a key."""
    probe = {
        "httpGet": {"path": "/health", "port": 8000},
        "periodSeconds": 10,
        "timeoutSeconds": 10,
        "failureThreshold": 6,
    }
    body: dict[str, Any] = {
        "name": "vllm",
        "image": IMAGE,
        "args": ["Qwen/Qwen3-8B", "--max-model-len=16384", "--shutdown-timeout=300"],
        "env": [{"name": "HF_TOKEN", "valueFrom": SECRET}],
        "ports": [{"name": "http", "containerPort": 8000}],
        "startupProbe": {**probe, "failureThreshold": 180},
        "livenessProbe": probe,
        "lifecycle": {"preStop": {"sleep": {"seconds": 15}}},
        "resources": {"limits": {"memory": "128Gi", "ephemeral-storage": "200Gi", "nvidia.com/gpu": 1}},
    }
    return {key: value for key, value in (body | changes).items() if value is not None}


def pod(
    *, node: str | None = "p5.48xlarge", containers: list[dict[str, Any]] | None = None, **spec: Any
) -> dict[str, Any]:
    """A pod template; keywords go to the pod's spec."""
    body: dict[str, Any] = {
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 360,
        "containers": containers or [container()],
    }
    if node:
        body["nodeSelector"] = {NODE_LABEL: node}
    return {"metadata": {"labels": {"app": "chat"}}, "spec": body | spec}


def workload(template: dict[str, Any] | None = None, *, kind: str = "Deployment", **spec: Any) -> dict[str, Any]:
    """A Deployment (or another kind of apps/v1) called ``chat``."""
    body = {"selector": {"matchLabels": {"app": "chat"}}, "template": template or pod()}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": body | spec,
    }


def served(*args: str, gpus: int = 1, node: str | None = "p5.48xlarge", **changes: Any) -> dict[str, Any]:
    """A Deployment whose one container has these arguments, GPUs and changes."""
    limits = {"memory": "1000Gi", "ephemeral-storage": "200Gi", "nvidia.com/gpu": gpus}
    changed = {"args": list(args), "resources": {"limits": limits}} | changes
    volumes = changed.pop("volumes", [])
    return workload(pod(node=node, containers=[container(**changed)], volumes=volumes))


def shared_memory(size: str | None = "16Gi", medium: str | None = "Memory") -> dict[str, Any]:
    """``volumeMounts`` and ``volumes`` with /dev/shm."""
    empty = {key: value for key, value in (("medium", medium), ("sizeLimit", size)) if value}
    return {
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
        "volumes": [{"name": "shm", "emptyDir": empty}],
    }


def group(
    leader: dict[str, Any], worker: dict[str, Any] | None = None, size: Any = 2, **template: Any
) -> dict[str, Any]:
    """A LeaderWorkerSet called ``big`` of these pod templates."""
    body = {"size": size, "leaderTemplate": leader, "workerTemplate": worker or leader} | template
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "big", "namespace": "llm"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": body},
    }


def node_of_group(
    *extra: str, image: str = EFA_IMAGE, gpus: int = 8, efa: int = 32, env: Any = None, **spec: Any
) -> dict[str, Any]:
    """One pod template of a two-node engine: TP 8, PP 2."""
    line = "exec vllm serve meta-llama/Llama-3.1-405B-Instruct --tensor-parallel-size 8 --pipeline-parallel-size 2 "
    line += "--nnodes $(LWS_GROUP_SIZE) --node-rank $(LWS_WORKER_INDEX) --master-addr $(LWS_LEADER_ADDRESS) "
    limits: dict[str, Any] = {"memory": "1500Gi", "nvidia.com/gpu": gpus}
    if efa:
        limits["vpc.amazonaws.com/efa"] = efa
    shm = shared_memory("64Gi")
    body = container(
        image=image,
        args=None,
        command=["sh", "-c", line + " ".join(extra)],
        env=env or [],
        resources={"limits": limits},
        volumeMounts=shm["volumeMounts"],
    )
    return pod(containers=[body], volumes=shm["volumes"], **spec)


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with another value at a dotted path (numbers are positions)."""
    body = copy.deepcopy(body)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    target: Any = body
    for step in parents:
        target = target[step]
    target[last] = value
    return body


def resource(body: dict[str, Any]) -> Resource:
    """A manifest as a resource."""
    return Resource(f"{body['apiVersion']}/{body['kind']}", body["metadata"]["name"], body)


def outcomes_of(
    rule: str, *bodies: dict[str, Any] | Resource, context: Mapping[str, Any] | None = None
) -> list[Outcome]:
    """What a rule says about all of these together."""
    rows = [body if isinstance(body, Resource) else resource(body) for body in bodies]
    resources = ResourceSet(rows, context)
    checked = rules()[rule]
    return [
        row
        for subject in resources.of(*checked.applies_to)
        for row in outcomes(checked, subject, resources, Configuration())
    ]


def verdict(rule: str, *bodies: dict[str, Any] | Resource, context: Mapping[str, Any] | None = None) -> str:
    """``violation``, ``undecided``, ``advice`` or ``pass``: the gravest that a rule says."""
    said = {row.verdict for row in outcomes_of(rule, *bodies, context=context)}
    return next((name for name in ("violation", "undecided", "advice") if name in said), "pass")


def pulumi(token: str, name: str = "x", **properties: Any) -> Resource:
    """A resource of a Pulumi program."""
    return pulumi_resource(token, name, properties)
