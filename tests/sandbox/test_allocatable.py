"""Allocatable resources, against figures worked out by hand from EKS's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.instance_types import instance_type, instance_types
from sandbox.allocatable import default_maximum_pods, node_resources, reserved_cpu_millicores


def test_p5_offers_what_eks_gives() -> None:
    offered = node_resources(
        instance_type("p5.48xlarge"), gpus=8, efa_interfaces=32, storage_bytes=30_400 * 10**9, pods=51
    ).allocatable
    assert offered["nvidia.com/gpu"] == "8"
    assert offered["vpc.amazonaws.com/efa"] == "32"
    assert offered["pods"] == "51"
    assert offered["cpu"] == "191450m"  # 192000 - 60 - 10 - 2*5 - 188*2.5
    assert offered["memory"] == "2085980Mi"  # 2097152 - (255 + 11*51) - 100 - 5128*2
    assert offered["hugepages-2Mi"] == "10256Mi"
    # 8 drives of 3800 GB, less a tenth for eviction, less 1 GiB
    assert int(offered["ephemeral-storage"]) == 30_400 * 10**9 * 9 // 10 - 2**30


def test_a_system_node_has_no_gpu_resource_at_all() -> None:
    resources = node_resources(instance_type("m7i.xlarge"), gpus=0, efa_interfaces=0, storage_bytes=20 * 2**30, pods=58)
    assert not {"nvidia.com/gpu", "vpc.amazonaws.com/efa"} & set(resources.capacity)
    assert resources.allocatable["cpu"] == "3920m"  # 4000 - 60 - 10 - 2*5
    assert resources.allocatable["hugepages-2Mi"] == "0Mi"


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("m7i.xlarge", 58),  # 4 * 14 + 2
        ("p5.48xlarge", 100),  # 2 * 49 + 2: nodeadm doesn't know that an EFA-only interface gives no address
        ("p6-b300.48xlarge", 198),  # 4 * 49 + 2: card 0 takes no EFA
        ("g5.48xlarge", 250),  # (7 - 1) * 49 + 2 = 296, above what managed node groups allow
    ],
)
def test_pods_where_the_user_data_says_nothing(name: str, pods: int) -> None:
    assert default_maximum_pods(instance_type(name)) == pods


@given(st.integers(min_value=1, max_value=512))
def test_more_cores_reserve_more_but_a_smaller_share(vcpus: int) -> None:
    less, more = reserved_cpu_millicores(vcpus), reserved_cpu_millicores(vcpus + 1)
    assert less <= more < (vcpus + 1) * 1000
    assert more / (vcpus + 1) <= (less + 1) / vcpus  # whole millicores, rounded down


@pytest.mark.parametrize("name", sorted(instance_types()))
def test_every_type_of_the_catalog_has_room_left(name: str) -> None:
    instance = instance_type(name)
    resources = node_resources(
        instance,
        gpus=instance.gpus,
        efa_interfaces=instance.efa_interfaces,
        storage_bytes=20 * 2**30,
        pods=default_maximum_pods(instance),
    )
    assert (
        0
        < int(resources.allocatable["memory"].removesuffix("Mi"))
        < int(resources.capacity["memory"].removesuffix("Mi"))
    )
    assert 0 < int(resources.allocatable["ephemeral-storage"]) < int(resources.capacity["ephemeral-storage"])
    assert int(resources.allocatable["pods"]) > 0
