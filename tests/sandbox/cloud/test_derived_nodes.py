"""Nodes offer what group and template ask for, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.cloud.account import Resource
from sandbox.cloud.derived_nodes import node_group
from sandbox.cloud.errors import AwsError
from sandbox.node_groups import NodeGroup, Taint
from tests.sandbox.cloud.imaginary import GROUP, Imaginary, encoded


def derived(imaginary: Imaginary, template: dict[str, Any] | None = None, **group: Any) -> NodeGroup:
    """The nodes of the right group with these changes of it and its template."""
    name = Resource("x", "lt-1", "")
    inputs = imaginary.group(name, **group)
    return node_group(Resource(GROUP, "gpu:p5", "", inputs), imaginary.template(**(template or {})), imaginary.account)


def offered(nodes: NodeGroup) -> dict[str, str]:
    return nodes.resources.allocatable


def test_the_right_group_gives_what_a_p5_node_has(imaginary: Imaginary) -> None:
    nodes = derived(imaginary)
    assert (nodes.name, nodes.count, nodes.zones, nodes.capacity_type) == ("p5", 2, ("use1-az1",), "ON_DEMAND")
    assert nodes.taints == (Taint("nvidia.com/gpu", "NoSchedule", "true"),)
    found = offered(nodes)
    assert (found["nvidia.com/gpu"], found["vpc.amazonaws.com/efa"], found["pods"]) == ("8", "32", "51")
    assert int(found["ephemeral-storage"]) == 30_400 * 10**9 * 9 // 10 - 2**30


def test_efa_is_what_the_template_declares(imaginary: Imaginary) -> None:
    plain = [{"deviceIndex": 0, "securityGroups": [imaginary.cluster_security_group]}]
    assert "vpc.amazonaws.com/efa" not in offered(derived(imaginary, {"networkInterfaces": plain}))
    two = [*plain, *({"networkCardIndex": card, "interfaceType": "efa-only"} for card in (1, 2))]
    assert offered(derived(imaginary, {"networkInterfaces": two}))["vpc.amazonaws.com/efa"] == "2"


@pytest.mark.parametrize(
    ("template", "gib"),
    [
        ({"userData": None}, 20),
        ({"userData": None, "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 200}}]}, 200),
        ({"userData": None, "blockDeviceMappings": [{"deviceName": "/dev/sdz", "ebs": {"volumeSize": 900}}]}, 20),
    ],
)
def test_without_raid0_pods_have_the_root_volume(imaginary: Imaginary, template: dict[str, Any], gib: int) -> None:
    capacity = derived(imaginary, template).resources.capacity
    assert capacity["ephemeral-storage"] == str(gib * 2**30)


def test_pods_are_the_kubelets_setting(imaginary: Imaginary) -> None:
    assert offered(derived(imaginary, {"userData": None}))["pods"] == "100"
    twenty = encoded("kind: NodeConfig\nspec: {kubelet: {config: {maxPods: 20}}}")
    assert offered(derived(imaginary, {"userData": twenty}))["pods"] == "20"


@pytest.mark.parametrize(
    "group",
    [
        {"amiType": "AL2023_x86_64_STANDARD"},
        {"amiType": None},
        {"taints": [{"key": "reserved", "value": "ml", "effect": "NO_SCHEDULE"}]},
    ],
    ids=["image without driver", "no image named", "a taint that the device plugin doesn't tolerate"],
)
def test_no_gpu_without_driver_and_device_plugin(imaginary: Imaginary, group: dict[str, Any]) -> None:
    nodes = derived(imaginary, **group)
    assert "nvidia.com/gpu" not in offered(nodes)
    assert nodes.gpus_visible is False


def test_labels_and_image_are_the_groups(imaginary: Imaginary) -> None:
    first = derived(imaginary, labels={"workload": "llm"}, capacityType="CAPACITY_BLOCK")
    second = derived(imaginary, labels={"workload": "llm"}, releaseVersion="1.36.2-20260801")
    assert first.labels["workload"] == "llm"
    assert first.capacity_type == "CAPACITY_BLOCK"
    assert first.labels["eks.amazonaws.com/nodegroup-image"] != second.labels["eks.amazonaws.com/nodegroup-image"]
    assert first.image == "AL2023_x86_64_NVIDIA 1.36.2-20260714"


def test_a_primary_interface_without_the_clusters_group_never_joins(imaginary: Imaginary) -> None:
    other = [{"deviceIndex": 0, "securityGroups": ["sg-other"]}]
    for template in ({"networkInterfaces": other}, {"networkInterfaces": None, "vpcSecurityGroupIds": ["sg-other"]}):
        with pytest.raises(AwsError, match="Instances failed to join the kubernetes cluster") as caught:
            derived(imaginary, template)
        assert imaginary.cluster_security_group in str(caught.value)


def test_a_template_that_names_no_group_gets_the_clusters_from_eks(imaginary: Imaginary) -> None:
    assert derived(imaginary, {"networkInterfaces": None}).count == 2


def test_a_type_that_the_catalog_does_not_know_is_named(imaginary: Imaginary) -> None:
    with pytest.raises(AwsError, match=r"can't play this instance type.*p5\.49xlarge"):
        derived(imaginary, {"instanceType": "p5.49xlarge"})


def test_a_made_name_is_shortened_for_people(imaginary: Imaginary) -> None:
    inputs = imaginary.group(Resource("x", "lt-1", ""), nodeGroupName=None, nodeGroupNamePrefix="system-")
    group = Resource(GROUP, "gpu:x", "", inputs, {"nodeGroupName": "system-20261129234736381021"})
    nodes = node_group(group, imaginary.template(), imaginary.account)
    assert (nodes.name, nodes.node_prefix) == ("system-20261129234736381021", "system-81021")
