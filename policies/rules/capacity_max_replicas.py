"""A maximum of replicas must fit the GPUs that the cluster can ever have: more stay pending and block rollouts."""

from __future__ import annotations

from collections.abc import Iterator

from policies.gpu_capacity import GpuCapacity, gpu_capacity
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, violation
from policies.scalers import HPA, SCALED_OBJECT, maximum_replicas, scalers_of, target_resource
from policies.unknowns import text, whole
from policies.workloads.pods import LEADER_WORKER_SET, RAY_KINDS, PodTemplate, pod_templates

_REPLICATED = ("Deployment.apps", "StatefulSet.apps", LEADER_WORKER_SET)


def _gpus(pod: PodTemplate) -> int:
    return sum(container.gpus for container in pod.containers)


def _pods_of_replica(workload: Resource) -> list[tuple[int, int]]:
    """The GPU pods of one replica as (count, GPUs of each); a LeaderWorkerSet's replica is a whole group."""
    pods = []
    for pod in pod_templates(workload):
        count = 1 if pod.role == "leader" else pod.group_size - (pod.role == "worker")
        if _gpus(pod) and count > 0:
            pods.append((count, _gpus(pod)))
    return pods


def _fitting_replicas(pods: list[tuple[int, int]], capacity: GpuCapacity) -> int:
    """The most replicas that fit: by GPUs in all, and by places for the largest pod, which does not span nodes."""
    largest = max(gpus for _, gpus in pods)
    largest_pods = sum(count for count, gpus in pods if gpus == largest)
    return min(capacity.gpus // _sum(pods), capacity.pods(largest) // largest_pods)


def _sum(pods: list[tuple[int, int]]) -> int:
    return sum(count * gpus for count, gpus in pods)


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge scalers by their maximum, and workloads without a scaler by their replicas."""
    if resource.group_kind in RAY_KINDS:
        yield from _ray(resource, resources)
        return
    path: Path
    if resource.group_kind in (SCALED_OBJECT, HPA):
        workload, replicas = target_resource(resource, resources), maximum_replicas(resource)
        path = ("spec", "maxReplicaCount" if resource.group_kind == SCALED_OBJECT else "maxReplicas")
    else:
        if scalers_of(resource, resources):
            return
        workload, path = resource, ("spec", "replicas")
        replicas = whole(resource.at(*path))
    if workload is None or replicas is None or workload.group_kind not in _REPLICATED:
        return
    pods = _pods_of_replica(workload)
    capacity = gpu_capacity(resources) if pods else None
    if capacity is None:
        return
    fitting = _fitting_replicas(pods, capacity)
    if replicas > fitting:
        key = path[-1]
        given = (
            f"{key} {replicas}"
            if resource.at(*path) is not None
            else f"{key} is not set, which means {replicas}, and that"
        )
        yield violation(
            f"{given} × {_sum(pods)} GPUs needs {replicas * _sum(pods)} GPUs, and {capacity.what} can have "
            f"{capacity.gpus}: set {key} to {fitting} at most",
            *path,
        )


def _ray(resource: Resource, resources: ResourceSet) -> Iterator[Outcome]:
    for pod in pod_templates(resource):
        if pod.role != "worker" or not _gpus(pod):
            continue
        group = pod.path[:-1]
        cluster = group[:-2]
        scales = text(resource.at(*cluster, "enableInTreeAutoscaling")) == "true"
        key = "maxReplicas" if scales else "replicas"
        replicas = whole(resource.at(*group, key))
        capacity = gpu_capacity(resources)
        if replicas is None or capacity is None:
            continue
        hosts = whole(resource.at(*group, "numOfHosts")) or 1
        fitting = capacity.pods(_gpus(pod)) // hosts
        if replicas > fitting:
            yield violation(
                f"{key} {replicas} × {hosts * _gpus(pod)} GPUs needs {replicas * hosts * _gpus(pod)} GPUs, and "
                f"{capacity.what} can have {capacity.gpus}: set {key} to {fitting} at most",
                *group,
                key,
            )


RULE = Rule(
    name="capacity-max-replicas",
    title="The cluster can hold the maximum of replicas",
    source="the article's checklist; modelplane #166; field-mistakes.md 6, 20",
    fix="Lower the maximum of replicas to what the node groups can hold, or raise their maximum size.",
    applies_to=(SCALED_OBJECT, HPA, *_REPLICATED, *RAY_KINDS),
    check=check,
    scope="set",
)
