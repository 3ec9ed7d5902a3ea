"""Replicas on the host network share the node's ports: of two on one node the second can't start."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import at, mappings, text
from policies.workloads.nodes import placement
from policies.workloads.pods import LEADER_WORKER_SET, PodTemplate, pod_templates
from policies.workloads.scaling import pod_gpus, replica_range
from policies.workloads.servers import servers_in

_HOSTNAME = "kubernetes.io/hostname"


def _is_spread(pod: PodTemplate) -> bool:
    required = at(pod.spec, "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    if any(text(row.get("topologyKey")) == _HOSTNAME for row in (mappings(required) if required is not None else [])):
        return True
    constraints = pod.spec.get("topologySpreadConstraints")
    return any(
        text(row.get("topologyKey")) == _HOSTNAME and text(row.get("whenUnsatisfiable")) != "ScheduleAnyway"
        for row in (mappings(constraints) if constraints is not None else [])
    )


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Several replicas on the host network can't land on one node."""
    _, most = replica_range(resource, resources)
    if most <= 1:
        return
    for pod in pod_templates(resource):
        if text(pod.spec.get("hostNetwork")) != "true" or not servers_in(pod) or _is_spread(pod):
            continue
        gpus = pod_gpus(pod)
        node_sizes = [row.gpus for row in placement(pod).instance_types]
        message = (
            f"up to {most} replicas on the host network bind the same port, and nothing keeps two off one node. "
            f"Require podAntiAffinity on {_HOSTNAME}, or leave the host network."
        )
        if node_sizes and any(size >= 2 * gpus for size in node_sizes):
            yield violation(message, *pod.spec_path, "hostNetwork")
        elif not node_sizes and gpus < 8:
            yield advice(message, *pod.spec_path, "hostNetwork")


RULE = Rule(
    name="hostnetwork-port-spread",
    title="Replicas on the host network are kept apart",
    source="ome #236; rbg #171; llm-d #632",
    fix=f"Require podAntiAffinity on {_HOSTNAME}, or do without hostNetwork.",
    applies_to=("Deployment.apps", "StatefulSet.apps", LEADER_WORKER_SET, "Rollout.argoproj.io"),
    check=check,
    scope="set",
)
