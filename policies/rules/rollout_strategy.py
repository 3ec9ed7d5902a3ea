"""A rolling update that starts the new pod first needs GPUs that a full pool doesn't have: it never ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import NotDecidedError, at, number, text
from policies.workloads.pods import LEADER_WORKER_SET, POD_OWNERS
from policies.workloads.scaling import gpus_per_replica, replica_range, rounded

_KINDS = ("Deployment.apps", LEADER_WORKER_SET)


def _surge_and_unavailable(resource: Resource, replicas: int) -> tuple[int, int]:
    """How many pods an update adds and how many it takes away first, of ``replicas``."""
    if resource.group_kind == LEADER_WORKER_SET:
        update = resource.at("spec", "rolloutStrategy", "rollingUpdateConfiguration")
        defaults = ("0", "1")
    else:
        if text(resource.at("spec", "strategy", "type")) == "Recreate":
            return 0, replicas
        update = resource.at("spec", "strategy", "rollingUpdate")
        defaults = ("25%", "25%")
    surge = rounded(at(update, "maxSurge"), replicas, up=True)
    unavailable = rounded(at(update, "maxUnavailable"), replicas, up=False)
    surge = rounded(defaults[0], replicas, up=True) if surge is None else surge
    unavailable = rounded(defaults[1], replicas, up=False) if unavailable is None else unavailable
    return surge or 0, unavailable or 0


def _wanted(workload: Resource, resources: ResourceSet) -> int:
    """GPUs that a workload has at least: of its declared replicas, or its autoscaler's minimum."""
    return replica_range(workload, resources)[0] * gpus_per_replica(workload)


@lru_cache(maxsize=8)
def _gpus_of_all(resources: ResourceSet) -> int:
    """GPUs of every workload that stays, once a set; what is not known is left out, since it can only add."""
    total = 0
    for workload in resources.of(*POD_OWNERS):
        if workload.group_kind not in ("Job.batch", "CronJob.batch", "DaemonSet.apps"):
            with suppress(NotDecidedError):
                total += _wanted(workload, resources)
    return total


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """An update of a GPU workload can finish on the GPUs that there are."""
    gpus = gpus_per_replica(resource)
    if gpus == 0:
        return
    wanted = _wanted(resource, resources)
    replicas = max(wanted // gpus, 1)
    surge, unavailable = _surge_and_unavailable(resource, replicas)
    if unavailable > 0 or surge == 0:
        return
    place = ("spec", "strategy") if resource.at("spec", "strategy") is not None else ("spec",)
    remedy = "Set maxSurge: 0 and maxUnavailable: 1, or type: Recreate"
    cluster_gpus = number(resources.context.get("cluster_gpus"))
    if cluster_gpus is None:
        yield advice(
            f"an update of {resource.label} starts a new pod of {gpus} GPUs before it ends an old one: without "
            f"spare GPUs it never finishes. {remedy} where the pool is full.",
            *place,
        )
        return
    others = _gpus_of_all(resources) - wanted
    needed = (replicas + 1) * gpus + others
    if needed > cluster_gpus:
        yield violation(
            f"an update of {resource.label} starts a new pod of {gpus} GPUs first, which makes {needed}; the "
            f"cluster has {cluster_gpus:g}: the new pod stays Pending and the old one is kept. {remedy}.",
            *place,
        )


RULE = Rule(
    name="rollout-strategy",
    title="A rollout can finish without spare GPUs",
    source="LLMKube #192, #196; production-stack #103; kserve #4188; airunway #400; bayes-platform #776",
    fix="Set maxSurge: 0 and maxUnavailable: 1, or strategy type: Recreate.",
    applies_to=_KINDS,
    check=check,
    scope="set",
)
