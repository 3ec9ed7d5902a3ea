"""A ReadWriteOnce volume attaches to one node: replicas on other nodes hang with Multi-Attach."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import at, mappings, sequence, text
from policies.workloads.nodes import placement
from policies.workloads.pods import LEADER_WORKER_SET, PodTemplate, pod_templates
from policies.workloads.scaling import pod_gpus, replica_range

_KINDS = ("Deployment.apps", "StatefulSet.apps", LEADER_WORKER_SET, "Rollout.argoproj.io", "ReplicaSet.apps")
_MANY = {"ReadWriteMany", "ReadOnlyMany"}


def _mounts(pod: PodTemplate, claim: str) -> bool:
    names = [text(at(row, "persistentVolumeClaim", "claimName")) for row in mappings(pod.spec.get("volumes"))]
    return claim in names


def _may_share_a_node(pod: PodTemplate, pods: int) -> bool:
    """Whether all pods may land on one node, by its GPUs; so too where the node isn't known and they are few."""
    gpus = pod_gpus(pod)
    sizes = [row.gpus for row in placement(pod).instance_types]
    return bool(sizes) and max(sizes) >= gpus * pods


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A claim that several pods mount is ReadWriteMany (or ReadOnlyMany)."""
    modes = {text(mode) for mode in sequence(resource.at("spec", "accessModes"))}
    if not modes or modes & _MANY:
        return
    for workload in resources.of(*_KINDS):
        if workload.namespace != resource.namespace:
            continue
        for pod in pod_templates(workload):
            pods = replica_range(workload, resources)[1] * pod.group_size
            if not _mounts(pod, resource.name) or pods <= 1:
                continue
            mode = ", ".join(sorted(mode for mode in modes if mode))
            message = (
                f"{workload.label} mounts this {mode} claim in up to {pods} pods: pods on a second node never "
                "start. Use a ReadWriteMany class (EFS, FSx for Lustre), or a claim a replica."
            )
            place = ("spec", "accessModes")
            shares = _may_share_a_node(pod, pods) and "ReadWriteOncePod" not in modes
            yield advice(message, *place) if shares else violation(message, *place)
            break


RULE = Rule(
    name="pvc-access-mode",
    title="A volume that replicas share can be mounted by all of them",
    source="production-stack #107; Tanguille/cluster #3568; ollama-operator #5",
    fix="Set accessModes: [ReadWriteMany] with a class that has it.",
    applies_to=("PersistentVolumeClaim",),
    check=check,
    scope="set",
)
