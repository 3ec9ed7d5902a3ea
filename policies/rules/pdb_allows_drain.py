"""A disruption budget that allows no eviction hangs every node drain and upgrade."""

from __future__ import annotations

from collections.abc import Iterator

from policies.label_selectors import pod_labels, selects
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.pods import LEADER_WORKER_SET, pod_templates
from policies.workloads.scaling import gpus_per_replica, replica_range, rounded

_KINDS = ("Deployment.apps", "StatefulSet.apps", LEADER_WORKER_SET, "Rollout.argoproj.io", "ReplicaSet.apps")


def _selected(budget: Resource, resources: ResourceSet) -> list[Resource]:
    """The GPU workloads whose pods the budget covers."""
    selector = budget.at("spec", "selector")
    found = []
    for workload in resources.of(*_KINDS):
        if workload.namespace == budget.namespace and gpus_per_replica(workload) > 0:
            templates = pod_templates(workload)
            if selector is not None and any(selects(selector, pod_labels(pod)) for pod in templates):
                found.append(workload)
    return found


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A budget over GPU workloads lets at least one pod go when all are healthy."""
    workloads = _selected(resource, resources)
    if not workloads:
        return
    pods = sum(_pods(workload, resources) for workload in workloads)
    # Kubernetes rounds both up.
    unavailable = rounded(resource.at("spec", "maxUnavailable"), pods, up=True)
    available = rounded(resource.at("spec", "minAvailable"), pods, up=True)
    names = ", ".join(workload.label for workload in workloads)
    if unavailable == 0 or (available is not None and 0 < pods <= available):
        key = "maxUnavailable" if unavailable == 0 else "minAvailable"
        yield violation(
            f"{key} {resource.at('spec', key)} over {pods} pod(s) of {names} allows no eviction: drains, upgrades and "
            "consolidation hang. Set maxUnavailable: 1, or run one replica more.",
            "spec",
            key,
        )


def _pods(workload: Resource, resources: ResourceSet) -> int:
    replicas = replica_range(workload, resources)[0]
    is_group = workload.group_kind == LEADER_WORKER_SET
    return replicas * pod_templates(workload)[0].group_size if is_group else replicas


RULE = Rule(
    name="pdb-allows-drain",
    title="A disruption budget leaves room for a drain",
    source="ai-platform-engineering #1446; devantler-tech/platform #1880; flexprice #2789",
    fix="Set maxUnavailable: 1 instead of a minAvailable that equals the replicas.",
    applies_to=("PodDisruptionBudget.policy",),
    check=check,
    scope="set",
)
