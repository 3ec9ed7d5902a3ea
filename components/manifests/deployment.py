"""The Deployment of a model server that fits one node."""

from __future__ import annotations

from typing import Any

from components import gpu_taint
from components.labels import object_labels, selector_labels
from components.manifests.caches import COMPILE_CACHE_GIB, volume_mounts, volumes
from components.manifests.probes import probes
from components.manifests.security_contexts import container_security_context, pod_security_context
from components.manifests.vllm_arguments import PORT, vllm_arguments
from components.manifests.vllm_environment import vllm_environment
from components.model_server_plan import ModelServerPlan


def deployment_body(plan: ModelServerPlan, claim_name: str) -> dict[str, Any]:
    """The Deployment object. ``replicas`` is left out where an autoscaler owns it."""
    args = plan.args
    labels = object_labels(args.name, "model-server")
    spec: dict[str, Any] = {
        "selector": {"matchLabels": selector_labels(args.name)},
        # No spare GPUs to surge into: a surge pod would stay Pending and the rollout with it.
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "progressDeadlineSeconds": plan.progress_deadline_seconds,
        "template": {
            "metadata": {"labels": {**labels, **selector_labels(args.name)}},
            "spec": pod_spec(plan, claim_name),
        },
    }
    if args.autoscaler is None:
        spec["replicas"] = args.replicas or 1
    return {"metadata": {"name": args.name, "namespace": plan.namespace, "labels": labels}, "spec": spec}


def pod_spec(plan: ModelServerPlan, claim_name: str) -> dict[str, Any]:
    """The pod: one vLLM container on one GPU node, replicas on different nodes."""
    args = plan.args
    return {
        "containers": [container(plan)],
        "volumes": volumes(plan, claim_name),
        "nodeSelector": {"node.kubernetes.io/instance-type": plan.instance_type.name},
        "tolerations": [gpu_taint.toleration()],
        "topologySpreadConstraints": [
            {
                # One lost node must not take both replicas.
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "nodeTaintsPolicy": "Honor",
                "labelSelector": {"matchLabels": selector_labels(args.name)},
                "matchLabelKeys": ["pod-template-hash"],
            }
        ],
        "securityContext": pod_security_context(args.version),
        # A Service named vllm would inject VLLM_PORT=tcp://..., which vLLM takes for its own setting.
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": plan.termination_grace_seconds,
    }


def container(plan: ModelServerPlan) -> dict[str, Any]:
    """The vLLM container. GPUs: requests equal limits, as extended resources must."""
    args, version = plan.args, plan.args.version
    gpus = str(args.tensor_parallel_size)
    storage = f"{COMPILE_CACHE_GIB}Gi"
    found: dict[str, Any] = {
        "name": "vllm-server",
        "image": args.image or version.image,
        "imagePullPolicy": "IfNotPresent",
        "args": vllm_arguments(plan),
        "env": vllm_environment(plan),
        "ports": [{"name": "http", "containerPort": PORT}],
        "resources": {
            "limits": {
                "nvidia.com/gpu": gpus,
                "memory": f"{plan.memory_limit_gib}Gi",
                "cpu": str(args.cpu_limit),
                "ephemeral-storage": f"{2 * COMPILE_CACHE_GIB}Gi",
            },
            "requests": {
                "nvidia.com/gpu": gpus,
                "memory": f"{plan.memory_request_gib}Gi",
                "cpu": str(args.cpu_request),
                "ephemeral-storage": storage,
            },
        },
        "volumeMounts": volume_mounts(plan),
        "lifecycle": {"preStop": {"sleep": {"seconds": plan.pre_stop_seconds}}},
        "securityContext": container_security_context(version),
        **probes(plan.startup_failure_threshold),
    }
    if version.command:
        found["command"] = list(version.command)
    return found
