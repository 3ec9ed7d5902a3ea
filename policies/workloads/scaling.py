"""How many pods a workload has, now and at most, with the autoscalers and budgets that point at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.model import Resource, ResourceSet
from policies.unknowns import at, known, mapping, mappings, sequence, text, whole
from policies.workloads.pods import LEADER_WORKER_SET, PodTemplate, pod_templates

SCALED_OBJECT = "ScaledObject.keda.sh"
AUTOSCALER = "HorizontalPodAutoscaler.autoscaling"
# KEDA's own default where a ScaledObject names no maximum (KEDA docs, ScaledObject spec).
_KEDA_DEFAULT_MAX = 100


def autoscalers(workload: Resource, resources: ResourceSet) -> Iterator[Resource]:
    """The ScaledObjects and HPAs that scale ``workload``."""
    for scaler in resources.of(SCALED_OBJECT, AUTOSCALER):
        target = mapping(scaler.at("spec", "scaleTargetRef"))
        # A ScaledObject's target is a Deployment where it names no kind.
        kind = text(target.get("kind")) or "Deployment"
        if (kind, text(target.get("name")), scaler.namespace) == (workload.kind, workload.name, workload.namespace):
            yield scaler


def declared_replicas(workload: Resource) -> int:
    """``spec.replicas``; 1 where it isn't stated, as Kubernetes has it."""
    replicas = whole(workload.at("spec", "replicas"))
    return 1 if replicas is None else replicas


def replica_range(workload: Resource, resources: ResourceSet) -> tuple[int, int]:
    """The fewest and the most replicas: the autoscaler's where there is one, else what the object declares.

    Raises:
        NotDecidedError: a number is not known yet.
    """
    ranges = []
    for scaler in autoscalers(workload, resources):
        is_keda = scaler.group_kind == SCALED_OBJECT
        low = whole(scaler.at("spec", "minReplicaCount" if is_keda else "minReplicas"))
        high = whole(scaler.at("spec", "maxReplicaCount" if is_keda else "maxReplicas"))
        ranges.append((low if low is not None else int(not is_keda), _KEDA_DEFAULT_MAX if high is None else high))
    if not ranges:
        replicas = declared_replicas(workload)
        return replicas, replicas
    return min(low for low, _ in ranges), max(high for _, high in ranges)


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


def selects(selector: Any, labels: dict[str, Any]) -> bool:
    """Whether a label selector (matchLabels and matchExpressions) matches; an empty one matches everything.

    Raises:
        NotDecidedError: a label or the selector is not known yet.
    """
    stated = {key: text(known(value)) for key, value in labels.items()}
    for key, value in mapping(at(selector, "matchLabels")).items():
        if stated.get(key) != text(value):
            return False
    for row in mappings(at(selector, "matchExpressions")):
        key, operator = text(row.get("key")) or "", text(row.get("operator"))
        values = [text(value) for value in sequence(row.get("values"))]
        has, value = key in stated, stated.get(key)
        matches = {
            "In": has and value in values,
            "NotIn": not has or value not in values,
            "Exists": has,
            "DoesNotExist": not has,
        }
        if not matches.get(operator or "", False):
            return False
    return True


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
