"""Karpenter's NodePools and EC2NodeClasses: which pools have GPUs, and how large their nodes' disks are."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.instances import has_gpu
from policies.model import Resource, ResourceSet
from policies.unknowns import mapping, mappings, sequence, text
from policies.workloads.quantities import gib

NODE_POOL = "NodePool.karpenter.sh"
NODE_CLASS = "EC2NodeClass.karpenter.k8s.aws"
# Requirements that choose instances: by type, by family (g6e), by category (g).
_CATEGORY = "instance-category"
_INSTANCE_KEYS = ("instance-type", "instance-family", _CATEGORY)


def _instance_values(pool: Resource) -> Iterator[list[bool]]:
    """For each requirement that chooses instances: whether each of its values carries GPUs."""
    for requirement in mappings(pool.at("spec", "template", "spec", "requirements")):
        key = (text(requirement.get("key")) or "").rpartition("/")[2]
        values = [text(value) or "" for value in sequence(requirement.get("values"))]
        if key in _INSTANCE_KEYS and text(requirement.get("operator")) == "In" and values:
            yield [has_gpu(f"{value}4.xlarge" if key == _CATEGORY else value) for value in values]


def never_has_gpus(pool: Resource) -> bool:
    """Whether a pool's requirements leave it no GPU instance."""
    return any(not any(values) for values in _instance_values(pool))


def always_has_gpus(pool: Resource) -> bool:
    """Whether a pool's requirements leave it GPU instances only."""
    return any(all(values) for values in _instance_values(pool))


def gpu_taints(pool: Resource) -> list[dict[str, str]]:
    """The pool's taints that say GPU and keep pods off: key, value, effect."""
    found = []
    for row in mappings(pool.at("spec", "template", "spec", "taints")):
        key, effect = text(row.get("key")) or "", text(row.get("effect")) or ""
        if "gpu" in key and effect in ("NoSchedule", "NoExecute"):
            found.append({"key": key, "value": text(row.get("value")) or "", "effect": effect})
    return found


def pools_of(node_class: Resource, resources: ResourceSet) -> Iterator[Resource]:
    """The pools whose nodes a class configures."""
    for pool in resources.of(NODE_POOL):
        if text(pool.at("spec", "template", "spec", "nodeClassRef", "name")) == node_class.name:
            yield pool


def largest_volume_gib(node_class: Resource) -> float | None:
    """The largest volume that a class sizes, in GiB; None where it sizes none."""
    rows = mappings(node_class.at("spec", "blockDeviceMappings"))
    sizes = [gib(mapping(row.get("ebs")).get("volumeSize")) for row in rows]
    return max((size for size in sizes if size), default=None)


def uses_local_nvme(node_class: Resource) -> bool:
    """Whether images and pods go to the local NVMe disks."""
    return text(node_class.at("spec", "instanceStorePolicy")) == "RAID0"
