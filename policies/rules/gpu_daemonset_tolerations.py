"""Daemons that serve GPU nodes must tolerate those nodes' taints; else they run on none of them and report no error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from policies.aws.instances import listed
from policies.aws.node_groups import NODE_GROUP, instance_types, is_gpu_group, taints, uses_efa
from policies.helm import HELM_KINDS, helm_install
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, violation
from policies.tolerations import tolerates
from policies.unknowns import mappings, text

_NODE_POOL = "NodePool.karpenter.sh"
_GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


@dataclass(frozen=True)
class _Daemon:
    """A chart whose daemons must reach GPU nodes: where its tolerations stand, and the chart's own."""

    tolerations: Path
    defaults: tuple[dict[str, str], ...] = ()
    only_efa: bool = False


# The charts' values.yaml: dcgm-exporter #731, k8s-device-plugin #1934, facts/aws.md 2.5 and 3.3.
_CHARTS = {
    "dcgm-exporter": _Daemon(("tolerations",)),
    "nvidia-device-plugin": _Daemon(("tolerations",), (_GPU_TAINT,)),
    "gpu-operator": _Daemon(("daemonsets", "tolerations"), (_GPU_TAINT,)),
    "node-feature-discovery": _Daemon(("worker", "tolerations")),
    "aws-efa-k8s-device-plugin": _Daemon(
        ("tolerations",), ({"key": "CriticalAddonsOnly", "operator": "Exists"},), only_efa=True
    ),
}
_IMAGES = {
    "dcgm-exporter": _Daemon(()),
    "k8s-device-plugin": _Daemon(()),
    "gpu-feature-discovery": _Daemon(()),
    "aws-efa-k8s-device-plugin": _Daemon((), only_efa=True),
}


def _has_efa(group: Resource, resources: ResourceSet) -> bool:
    rows = [listed(name) for name in instance_types(group, resources)]
    return uses_efa(group, resources) or any(row is not None and row.efa_interfaces > 0 for row in rows)


def _daemon_of_image(resource: Resource) -> _Daemon | None:
    for container in mappings(resource.at("spec", "template", "spec", "containers")):
        repository = (text(container.get("image")) or "").partition("@")[0]
        name = repository.rsplit("/", 1)[-1].partition(":")[0]
        if name in _IMAGES:
            return _IMAGES[name]
    return None


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge GPU daemons (charts and DaemonSets) against the taints of the GPU node groups at hand."""
    tolerations: Any
    if resource.kind == "DaemonSet":
        daemon = _daemon_of_image(resource)
        if daemon is None:
            return
        path: Path = ("spec", "template", "spec", "tolerations")
        tolerations = resource.at(*path)
        setting = ".".join(str(step) for step in path)
    else:
        install = helm_install(resource)
        daemon = _CHARTS.get(install.chart) if install else None
        if install is None or daemon is None:
            return
        path = install.values_path
        tolerations = install.value(*[str(step) for step in daemon.tolerations], default=list(daemon.defaults))
        setting = ".".join(str(step) for step in daemon.tolerations)
    for owner, taint in _taints(resources, only_efa=daemon.only_efa):
        if not tolerates(tolerations, taint):
            yield violation(
                f"nothing here tolerates the taint {taint['key']}={taint['value']}:{taint['effect']} of {owner}, so "
                f"no daemon runs there: add {{key: {taint['key']}, operator: Exists, effect: {taint['effect']}}} to "
                f"{setting}",
                *path,
            )


def _taints(resources: ResourceSet, *, only_efa: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """The taints of GPU nodes, each with the node group or node pool that has it."""
    for group in resources.of(NODE_GROUP):
        if is_gpu_group(group, resources) and (not only_efa or _has_efa(group, resources)):
            for taint in taints(group):
                yield f"the node group {group.name!r}", taint
    for pool in resources.of(_NODE_POOL):
        for row in mappings(pool.at("spec", "template", "spec", "taints")):
            key, effect = text(row.get("key")) or "", text(row.get("effect")) or ""
            # Which instances a pool gets isn't sure: only a taint that says GPU is taken for one of GPU nodes.
            if "gpu" in key and effect in ("NoSchedule", "NoExecute"):
                yield (
                    f"the node pool {pool.name!r}",
                    {"key": key, "value": text(row.get("value")) or "", "effect": effect},
                )


RULE = Rule(
    name="gpu-daemonset-tolerations",
    title="GPU daemons tolerate the taint of GPU nodes",
    source="dcgm-exporter #731; k8s-device-plugin #1934; eks-charts, aws-efa-k8s-device-plugin values",
    fix="Add a toleration for every taint of the GPU node groups to the daemon.",
    applies_to=(*HELM_KINDS, "DaemonSet.apps"),
    check=check,
    scope="set",
)
