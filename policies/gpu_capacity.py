"""The most GPUs that a cluster can ever have, and how many pods of a size fit them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from policies.aws.instances import gpus_of
from policies.aws.node_groups import NODE_GROUP, instance_types, is_gpu_group
from policies.karpenter import NODE_POOL, never_has_gpus
from policies.model import ResourceSet
from policies.unknowns import mapping, number, whole
from policies.workloads.quantities import quantity

# Node pools of other makes may add GPUs that nobody counts here.
_UNCOUNTED = ("aws:autoscaling/group:Group", "eks:index:NodeGroupV2", "eks:index:NodeGroup")


@dataclass(frozen=True)
class GpuCapacity:
    """The bound on GPUs. ``nodes`` holds (count, GPUs of each) where it comes from node groups, else nothing."""

    gpus: int
    what: str
    nodes: tuple[tuple[int, int], ...] = ()

    def pods(self, gpus_of_pod: int) -> int:
        """How many pods of ``gpus_of_pod`` GPUs fit; a pod does not span nodes."""
        if not self.nodes:
            return self.gpus // gpus_of_pod
        return sum(count * (gpus // gpus_of_pod) for count, gpus in self.nodes)


@lru_cache(maxsize=8)
def gpu_capacity(resources: ResourceSet) -> GpuCapacity | None:
    """The cluster's bound: from the context, else from node groups and node pools; None where nothing bounds it.

    Raises:
        NotDecidedError: a group's size or type is not known yet.
    """
    stated = number(resources.context.get("cluster_gpus"))
    if stated is not None:
        return GpuCapacity(int(stated), "the cluster")
    if any(True for _ in resources.of(*_UNCOUNTED)):
        return None
    nodes: list[tuple[int, int]] = []
    names = []
    for group in resources.of(NODE_GROUP):
        if not is_gpu_group(group, resources):
            continue
        most = whole(mapping(group.at("scalingConfig")).get("maxSize"))
        gpus = [gpus_of(name) for name in instance_types(group, resources)]
        known = [count for count in gpus if count is not None]
        if most is None or not known or len(known) < len(gpus):
            return None
        nodes.append((most, max(known)))
        names.append(group.name)
    pool_gpus = 0
    for pool in resources.of(NODE_POOL):
        if never_has_gpus(pool):
            continue
        limit = quantity(pool.at("spec", "limits", "nvidia.com/gpu"))
        if limit is None:
            return None  # nothing bounds it
        pool_gpus += int(limit)
        names.append(pool.name)
    if not names:
        return None
    total = sum(count * gpus for count, gpus in nodes) + pool_gpus
    what = f"the node group{'s' if len(names) > 1 else ''} {', '.join(names)}"
    return GpuCapacity(total, what, () if pool_gpus else tuple(nodes))
