"""Karpenter's consolidation looks at CPU and memory requests, not at GPU use: it replaces nodes that serve."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.instance_types import instance_types
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import at, mapping, mappings, sequence, text
from policies.workloads.pods import POD_OWNERS, pod_templates
from policies.workloads.scaling import pod_gpus

_SAFE = "WhenEmpty"
_ANNOTATION = "karpenter.sh/do-not-disrupt"
_GPU_LABELS = ("nvidia.com/gpu", "karpenter.k8s.aws/instance-gpu", "eks.amazonaws.com/instance-gpu")


def _is_gpu_pool(pool: Resource) -> bool:
    template = ("spec", "template", "spec")
    limits = mapping(pool.at("spec", "limits"))
    taints = mappings(pool.at(*template, "taints"))
    if any("gpu" in name for name in limits) or any("gpu" in (text(row.get("key")) or "") for row in taints):
        return True
    families = {row.name.split(".", 1)[0] for row in instance_types().values() if row.gpus}
    for row in mappings(pool.at(*template, "requirements")):
        if text(row.get("operator")) == "NotIn":
            continue
        if (text(row.get("key")) or "").startswith(_GPU_LABELS):
            return True
        values = [text(value) or "" for value in sequence(row.get("values"))]
        if values and all(value.split(".", 1)[0] in families for value in values):
            return True
    return False


def _is_frozen(pool: Resource) -> bool:
    """Whether a budget of zero nodes, for any reason and at any time, or no consolidation at all, holds it still."""
    if text(pool.at("spec", "disruption", "consolidateAfter")) == "Never":
        return True
    for row in mappings(pool.at("spec", "disruption", "budgets")):
        reasons = [text(reason) for reason in sequence(row.get("reasons"))]
        if (
            text(row.get("nodes")) in ("0", "0%")
            and "schedule" not in row
            and (not reasons or "Underutilized" in reasons)
        ):
            return True
    return False


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A GPU pool consolidates empty nodes only, or its pods ask not to be disrupted."""
    # Without a policy Karpenter consolidates underutilised nodes too.
    policy = text(resource.at("spec", "disruption", "consolidationPolicy")) or "WhenEmptyOrUnderutilized"
    if policy == _SAFE or not _is_gpu_pool(resource) or _is_frozen(resource):
        return
    pods = [pod for workload in resources.of(*POD_OWNERS) for pod in pod_templates(workload) if pod_gpus(pod)]
    exposed = [pod for pod in pods if text(at(pod.annotations, _ANNOTATION)) != "true"]
    if pods and not exposed:
        return
    message = (
        f"consolidationPolicy {policy} on a GPU pool replaces nodes that load or serve a model. Set {_SAFE}, or "
        "annotate "
        f'the pods {_ANNOTATION}: "true".'
    )
    place = ("spec", "disruption") if resource.at("spec", "disruption") is not None else ("spec",)
    yield violation(message, *place) if exposed else advice(message, *place)


RULE = Rule(
    name="gpu-node-disruption",
    title="Karpenter leaves GPU nodes that serve alone",
    source="LLMKube #658, #660; karpenter-provider-aws #7414",
    fix="Set spec.disruption.consolidationPolicy: WhenEmpty on GPU pools.",
    applies_to=("NodePool.karpenter.sh",),
    check=check,
    scope="set",
)
