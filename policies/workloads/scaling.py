"""How many replicas a workload has, at least and at most, and how many GPUs they take."""

from __future__ import annotations

from typing import Any

from policies.model import Resource, ResourceSet
from policies.scalers import maximum_replicas, minimum_replicas, scalers_of
from policies.unknowns import text, whole
from policies.workloads.pods import LEADER_WORKER_SET, PodTemplate, pod_templates


def declared_replicas(workload: Resource) -> int:
    """``spec.replicas``; 1 where it isn't stated, as Kubernetes has it."""
    replicas = whole(workload.at("spec", "replicas"))
    return 1 if replicas is None else replicas


def replica_range(workload: Resource, resources: ResourceSet) -> tuple[int, int]:
    """The fewest and the most replicas: the autoscaler's where there is one, else what the object declares.

    Raises:
        NotDecidedError: a number is not known yet.
    """
    scalers = scalers_of(workload, resources)
    if not scalers:
        replicas = declared_replicas(workload)
        return replicas, replicas
    lows = [minimum_replicas(scaler) for scaler in scalers]
    highs = [maximum_replicas(scaler) for scaler in scalers]
    return min((low for low in lows if low is not None), default=1), max((n for n in highs if n is not None), default=1)


def gpus_per_replica(workload: Resource) -> int:
    """GPUs of one replica: of one pod, or of a whole LeaderWorkerSet group. Raises NotDecidedError."""
    templates = pod_templates(workload)
    if workload.group_kind == LEADER_WORKER_SET:
        leaders = [pod_gpus(pod) for pod in templates if pod.role == "leader"]
        workers = [pod_gpus(pod) for pod in templates if pod.role != "leader"]
        size = templates[0].group_size if templates else 1
        return sum(leaders) + (size - len(leaders)) * max(workers, default=0)
    return sum(pod_gpus(pod) for pod in templates)


def pod_gpus(pod: PodTemplate) -> int:
    """GPUs that one pod of a template asks for."""
    return sum(container.gpus for container in pod.containers)


def rounded(value: Any, total: int, *, up: bool) -> int | None:
    """An ``IntOrString`` (``1``, ``"25%"``) of ``total`` as Kubernetes rounds it; None where there is none."""
    stated = text(value)
    if stated is None:
        return None
    if not stated.endswith("%"):
        return whole(stated)
    share = whole(stated[:-1])
    if share is None:
        return None
    return -(-share * total // 100) if up else share * total // 100
