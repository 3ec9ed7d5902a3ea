"""Allocatable resources, against figures worked out by hand from EKS's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.instance_types import instance_type, instance_types
from sandbox.allocatable import maximum_pods, node_resources, reserved_cpu_millicores


def test_p5_offers_what_eks_gives() -> None:
    offered = node_resources(instance_type("p5.48xlarge")).allocatable
    assert offered["nvidia.com/gpu"] == "8"
    assert offered["vpc.amazonaws.com/efa"] == "32"
    assert offered["pods"] == "51"
    assert offered["cpu"] == "191450m"  # 192000 - 60 - 10 - 2*5 - 188*2.5
    assert offered["memory"] == "2085980Mi"  # 2097152 - (255 + 11*51) - 100 - 5128*2
    assert offered["hugepages-2Mi"] == "10256Mi"
    # 8 drives of 3800 GB, less a tenth for eviction, less 1 GiB
    assert int(offered["ephemeral-storage"]) == 30_400 * 10**9 * 9 // 10 - 2**30


def test_a_system_node_has_no_gpu_resource_at_all() -> None:
    resources = node_resources(instance_type("m7i.xlarge"))
    assert not {"nvidia.com/gpu", "vpc.amazonaws.com/efa"} & set(resources.capacity)
    assert resources.allocatable["cpu"] == "3920m"  # 4000 - 60 - 10 - 2*5
    assert resources.allocatable["pods"] == "58"  # 4 interfaces of 15 addresses
    assert resources.allocatable["hugepages-2Mi"] == "0Mi"


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("p5.48xlarge", 51),  # (2 - 1) * 49 + 2: card 0's second slot holds an EFA-only interface
        ("p5en.48xlarge", 149),  # (4 - 1) * 49 + 2
        ("p6-b300.48xlarge", 198),  # 4 * 49 + 2: card 0 takes no EFA
        ("g5.48xlarge", 250),  # (7 - 1) * 49 + 2 = 296, above what managed node groups allow
    ],
)
def test_pod_limit(name: str, pods: int) -> None:
    assert maximum_pods(instance_type(name)) == pods


@given(st.integers(min_value=1, max_value=512))
def test_more_cores_reserve_more_but_a_smaller_share(vcpus: int) -> None:
    less, more = reserved_cpu_millicores(vcpus), reserved_cpu_millicores(vcpus + 1)
    assert less <= more < (vcpus + 1) * 1000
    assert more / (vcpus + 1) <= (less + 1) / vcpus  # whole millicores, rounded down


@pytest.mark.parametrize("name", sorted(instance_types()))
def test_every_type_of_the_catalog_has_room_left(name: str) -> None:
    resources = node_resources(instance_type(name))
    assert (
        0
        < int(resources.allocatable["memory"].removesuffix("Mi"))
        < int(resources.capacity["memory"].removesuffix("Mi"))
    )
    assert 0 < int(resources.allocatable["ephemeral-storage"]) < int(resources.capacity["ephemeral-storage"])
    assert int(resources.allocatable["pods"]) > 0
