"""What a node of an instance type offers to pods, as the kubelet on EKS's AL2023 image computes it.

Sources: nodeadm in awslabs/amazon-eks-ami (kube-reserved, hard eviction), the kubelet (huge pages come off the
allocatable memory), facts/aws.md 2.1 (pods), 2.4 (huge pages), 3.4 (RAID0 of the local NVMe).
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.instance_types import InstanceType

GPU_RESOURCE = "nvidia.com/gpu"
EFA_RESOURCE = "vpc.amazonaws.com/efa"

KUBE_RESERVED_MEMORY_MIB = 255
KUBE_RESERVED_MEMORY_MIB_PER_POD = 11
EVICTION_MEMORY_MIB = 100
KUBE_RESERVED_STORAGE_BYTES = 2**30
EVICTION_STORAGE_SHARE = 0.10
EFA_HUGE_PAGES_2MI = 5128
"""What the EFA installer sets aside on a host with EFA."""
LARGE_VCPUS = 30
MANAGED_MAXIMUM_PODS = 110
MANAGED_MAXIMUM_PODS_LARGE = 250
"""Managed node groups allow no more pods than this, by vCPUs (EKS user guide, "Choosing an instance type")."""
DEFAULT_ROOT_VOLUME_GIB = 20
"""EKS's default root volume, where the template says nothing."""


@dataclass(frozen=True)
class NodeResources:
    """Kubernetes quantities by resource name, as in ``v1.Node``'s status."""

    capacity: dict[str, str]
    allocatable: dict[str, str]


def default_maximum_pods(instance: InstanceType) -> int:
    """What nodeadm computes by itself: every interface of card 0 counts, also one that gives pods no address."""
    ceiling = MANAGED_MAXIMUM_PODS_LARGE if instance.vcpus >= LARGE_VCPUS else MANAGED_MAXIMUM_PODS
    return min(instance.enis_on_card_zero * (instance.ips_per_eni - 1) + 2, ceiling)


def reserved_cpu_millicores(vcpus: int) -> int:
    """CPU kept for the system: 6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest."""
    tenths_of_millicore = 600 * min(vcpus, 1) + 100 * min(max(vcpus - 1, 0), 1)
    tenths_of_millicore += 50 * min(max(vcpus - 2, 0), 2) + 25 * max(vcpus - 4, 0)
    return tenths_of_millicore // 10


def node_resources(
    instance: InstanceType, *, gpus: int, efa_interfaces: int, storage_bytes: int, pods: int
) -> NodeResources:
    """Capacity and allocatable of one node.

    ``gpus`` and ``efa_interfaces`` are what the device plugins find, ``storage_bytes`` the disk that the kubelet uses,
    ``pods`` the kubelet's limit.
    """
    memory_mib = instance.memory_gib * 1024
    huge_pages_mib = EFA_HUGE_PAGES_2MI * 2 if efa_interfaces else 0
    reserved_memory_mib = KUBE_RESERVED_MEMORY_MIB + KUBE_RESERVED_MEMORY_MIB_PER_POD * pods + EVICTION_MEMORY_MIB
    reserved_storage_bytes = KUBE_RESERVED_STORAGE_BYTES + int(storage_bytes * EVICTION_STORAGE_SHARE)
    whole = {
        "pods": str(pods),
        "hugepages-1Gi": "0",
        "hugepages-2Mi": f"{huge_pages_mib}Mi",
        **({GPU_RESOURCE: str(gpus)} if gpus else {}),
        **({EFA_RESOURCE: str(efa_interfaces)} if efa_interfaces else {}),
    }
    return NodeResources(
        capacity={
            "cpu": str(instance.vcpus),
            "memory": f"{memory_mib}Mi",
            "ephemeral-storage": str(storage_bytes),
            **whole,
        },
        allocatable={
            "cpu": f"{instance.vcpus * 1000 - reserved_cpu_millicores(instance.vcpus)}m",
            "memory": f"{memory_mib - reserved_memory_mib - huge_pages_mib}Mi",
            "ephemeral-storage": str(storage_bytes - reserved_storage_bytes),
            **whole,
        },
    )
