"""lt-sg-inside-nics, lt-subnet-in-managed-group and nodegroup-vs-template-fields: who states what."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import (
    LAUNCH_TEMPLATE,
    NODE_GROUP,
    UNKNOWN,
    Object,
    judge,
    launch_template,
    nics,
    node_group,
)

GROUPS, SUBNETS, FIELDS = "lt-sg-inside-nics", "lt-subnet-in-managed-group", "nodegroup-vs-template-fields"
INTERFACES = nics((0, 0, "interface"))


@pytest.mark.parametrize(
    "groups", [{"vpcSecurityGroupIds": ["sg-1"]}, {"vpcSecurityGroupIds": [UNKNOWN]}, {"securityGroupNames": ["efa"]}]
)
def test_security_groups_beside_interfaces(groups: Object) -> None:
    assert judge(GROUPS, launch_template(networkInterfaces=INTERFACES, **groups)) == [f"violation {LAUNCH_TEMPLATE}"]


def test_security_groups_in_one_place_pass() -> None:
    assert judge(GROUPS, launch_template(networkInterfaces=INTERFACES, vpcSecurityGroupIds=[])) == []
    assert judge(GROUPS, launch_template(vpcSecurityGroupIds=["sg-1"])) == []
    assert judge(GROUPS, launch_template(networkInterfaces=UNKNOWN)) == [f"undecided {LAUNCH_TEMPLATE}"]


@pytest.mark.parametrize("subnet", ["subnet-1", UNKNOWN])
def test_a_subnet_in_a_managed_groups_template(subnet: str) -> None:
    template = launch_template(networkInterfaces=nics((0, 0, "interface"), subnetId=subnet))
    assert judge(SUBNETS, template, node_group()) == [f"violation {LAUNCH_TEMPLATE}"]


def test_how_the_group_names_its_template_does_not_matter() -> None:
    template = launch_template(networkInterfaces=nics((0, 0, "interface"), subnetId="subnet-1"), name="gpu")
    state = {**template, "id": "lt-0123456789abcdef0"}
    for reference in ("gpu", "lt-gpu", "lt-0123456789abcdef0", UNKNOWN):
        assert judge(SUBNETS, state, node_group(template=reference)) == [f"violation {LAUNCH_TEMPLATE}"], reference
    by_name = node_group(template=None, launchTemplate={"name": "gpu", "version": "1"})
    assert judge(SUBNETS, state, by_name) == [f"violation {LAUNCH_TEMPLATE}"]


def test_in_a_preview_names_tell_which_template_is_meant() -> None:
    subnet = nics((0, 0, "interface"), subnetId="subnet-1")
    templates = [launch_template("gpu-template", networkInterfaces=subnet), launch_template("other-template")]
    found = judge(SUBNETS, *templates, node_group(template=UNKNOWN))
    assert found == ["violation aws:ec2/launchTemplate:LaunchTemplate/gpu-template"]
    assert judge(FIELDS, *templates, node_group("system", template=UNKNOWN)) == [
        "undecided aws:eks/nodeGroup:NodeGroup/system"
    ]


def test_what_a_state_fills_in_is_not_stated() -> None:
    filled = node_group(diskSize=0, remoteAccess=None, instanceTypes=[], amiType="CUSTOM", releaseVersion="ami-1")
    assert judge(FIELDS, launch_template(imageId="ami-1"), filled) == []


def test_a_template_from_elsewhere_or_of_a_self_managed_group_is_not_its_business() -> None:
    template = launch_template(networkInterfaces=nics((0, 0, "interface"), subnetId="subnet-1"))
    assert judge(SUBNETS, template) == []
    assert judge(SUBNETS, template, node_group(name="other", template="lt-0fedcba9876543210")) == []
    assert (
        judge(SUBNETS, launch_template(networkInterfaces=nics((0, 0, "interface"), subnetId=None)), node_group()) == []
    )


@pytest.mark.parametrize("value", [500, 500.0, "500", UNKNOWN])
def test_disk_size_beside_a_template(value: Any) -> None:
    assert judge(FIELDS, launch_template(), node_group(diskSize=value)) == [f"violation {NODE_GROUP}"]
    assert judge(FIELDS, node_group(template="elsewhere", diskSize=value)) == [f"violation {NODE_GROUP}"]


@pytest.mark.parametrize(
    ("template", "group"),
    [
        ({}, {"instanceTypes": ["p5.48xlarge"]}),
        ({}, {"remoteAccess": {"ec2SshKey": "key"}}),
        ({"imageId": "ami-1"}, {"amiType": "AL2023_x86_64_NVIDIA"}),
        ({"imageId": UNKNOWN}, {"amiType": "AL2023_x86_64_NVIDIA"}),
        ({"imageId": "ami-1"}, {"amiType": "CUSTOM", "releaseVersion": "1.36.2-20260714"}),
        ({"iamInstanceProfile": {"name": "node"}}, {}),
        ({"instanceMarketOptions": {"marketType": "spot"}}, {}),
    ],
)
def test_what_eks_refuses(template: Object, group: Object) -> None:
    assert judge(FIELDS, launch_template(**template), node_group(**group)) == [f"violation {NODE_GROUP}"]


def test_each_thing_in_one_place_passes() -> None:
    assert judge(FIELDS, launch_template(), node_group()) == []
    assert judge(FIELDS, launch_template(instance_type=None), node_group(instanceTypes=["p5.48xlarge"])) == []
    assert judge(FIELDS, launch_template(imageId="ami-1"), node_group(amiType="CUSTOM")) == []
    assert judge(FIELDS, node_group(template=None, instanceTypes=["g6e.xlarge"], diskSize=500)) == []


def test_instance_types_that_are_not_known_yet() -> None:
    assert judge(FIELDS, launch_template(), node_group(instanceTypes=UNKNOWN)) == [f"undecided {NODE_GROUP}"]
