"""AWS's hard rules: each wrong template, group or network gets the error that AWS would give."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.cloud.errors import AwsError
from sandbox.cloud.rules import check_alone
from sandbox.cloud.values import UNKNOWN
from tests.sandbox.cloud.imaginary import CLUSTER, GROUP, SUBNET, TEMPLATE, VPC, Imaginary

BLOCK: dict[str, Any] = {
    "instanceMarketOptions": {"marketType": "capacity-block"},
    "capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-0123"}},
}


def interface(card: int, device: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind, **more}


PRIMARY = interface(0, 0, "interface")

WRONG_TEMPLATES: dict[str, tuple[dict[str, Any], str, str]] = {
    "security groups at both levels": (
        {"vpcSecurityGroupIds": ["sg-1"]},
        "InvalidParameterCombination",
        "Network interfaces and an instance-level security groups may not be specified on the same request",
    ),
    "device index 2": (
        {"networkInterfaces": [PRIMARY, interface(1, 2, "efa-only")]},
        "InvalidParameterValue",
        "The specified number '2' for the device index exceeds",
    ),
    "a card that is not there": (
        {"networkInterfaces": [PRIMARY, interface(32, 0, "efa-only")]},
        "InvalidParameterValue",
        "network card index '32' exceeds what p5.48xlarge has: 32 cards",
    ),
    "EFA on card 0 of p6-b300": (
        {"instanceType": "p6-b300.48xlarge", "networkInterfaces": [PRIMARY, interface(0, 1, "efa-only")]},
        "InvalidParameterCombination",
        "not supported on network card 0 of p6-b300.48xlarge",
    ),
    "EFA where the type has none": (
        {"instanceType": "g5.xlarge", "networkInterfaces": [interface(0, 0, "efa")]},
        "InvalidParameterCombination",
        "EFA interfaces are not supported on g5.xlarge",
    ),
    "more EFA than p5.4xlarge has": (
        {"instanceType": "p5.4xlarge", "networkInterfaces": [PRIMARY, *(interface(0, n, "efa-only") for n in (1, 2))]},
        "AttachmentLimitExceeded",
        "2 EFA interfaces, but p5.4xlarge takes 1",
    ),
    "an interface without address as primary": (
        {"networkInterfaces": [interface(0, 0, "efa-only")]},
        "InvalidParameterCombination",
        "can't be the primary one",
    ),
    "no primary interface": (
        {"networkInterfaces": [interface(1, 0, "efa-only")]},
        "InvalidParameterCombination",
        "No network interface has device index 0 on network card 0",
    ),
    "two interfaces in one place": (
        {"networkInterfaces": [PRIMARY, interface(1, 0, "efa-only"), interface(1, 0, "efa-only")]},
        "InvalidParameterValue",
        "2 network interfaces have device index 0 on network card 1",
    ),
    "a placement group with a capacity block": (
        {**BLOCK, "placement": {"groupName": "together"}},
        "InvalidParameterCombination",
        "can't be launched into a placement group",
    ),
}


@pytest.mark.parametrize("case", WRONG_TEMPLATES, ids=list(WRONG_TEMPLATES))
def test_a_wrong_template_is_refused(imaginary: Imaginary, case: str) -> None:
    change, code, sentence = WRONG_TEMPLATES[case]
    with pytest.raises(AwsError, match=code) as caught:
        imaginary.make(TEMPLATE, **imaginary.template(**change))
    assert sentence in str(caught.value)


def test_the_right_template_with_values_that_are_not_known_yet_passes(imaginary: Imaginary) -> None:
    template = imaginary.template(
        instanceType=UNKNOWN, placement=UNKNOWN, instanceMarketOptions={"marketType": UNKNOWN}
    )
    check_alone(TEMPLATE, template)
    check_alone(TEMPLATE, imaginary.template(networkInterfaces=UNKNOWN))
    check_alone(GROUP, {"scalingConfig": {"minSize": UNKNOWN, "desiredSize": 3, "maxSize": 2}})


WRONG_GROUPS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "a subnet in the template": (
        {"networkInterfaces": [interface(0, 0, "interface", subnetId="subnet-x")]},
        {},
        "InvalidRequestException",
        "should not specify a subnet",
    ),
    "an instance profile in the template": (
        {"iamInstanceProfile": {"name": "x"}},
        {},
        "InvalidRequestException",
        "Launch template should not specify an instance profile",
    ),
    "instance types twice": (
        {},
        {"instanceTypes": ["p5.48xlarge"]},
        "InvalidRequestException",
        "both in the launch template and in the node group",
    ),
    "disk size beside a template": (
        {},
        {"diskSize": 100},
        "InvalidParameterException",
        "Disk size must be specified within the launch template",
    ),
    "remote access beside a template": (
        {},
        {"remoteAccess": {"ec2SshKey": "me"}},
        "InvalidParameterException",
        "Remote access configuration cannot be specified with a launch template",
    ),
    "a block without its market type": (
        {"capacityReservationSpecification": BLOCK["capacityReservationSpecification"]},
        {"capacityType": "CAPACITY_BLOCK"},
        "InvalidParameterException",
        "instance_market_options with market_type capacity-block",
    ),
    "a block without reservation and instance type": (
        {"instanceMarketOptions": BLOCK["instanceMarketOptions"], "instanceType": None},
        {"capacityType": "CAPACITY_BLOCK"},
        "InvalidParameterException",
        "a capacity_reservation_target; an instance_type",
    ),
    "a block's template for an on-demand group": (
        BLOCK,
        {"capacityType": "ON_DEMAND"},
        "InvalidParameterException",
        "needs capacity_type CAPACITY_BLOCK",
    ),
    "desired above most": (
        {},
        {"scalingConfig": {"minSize": 0, "desiredSize": 3, "maxSize": 2}},
        "InvalidParameterException",
        "desired capacity 3 can't be greater than max size 2",
    ),
    "least above desired": (
        {},
        {"scalingConfig": {"minSize": 2, "desiredSize": 1, "maxSize": 2}},
        "InvalidParameterException",
        "Minimum capacity 2 can't be greater than desired size 1",
    ),
    "a version that is not there": (
        {},
        {"launchTemplate": {"name": "p5", "version": "7"}},
        "InvalidRequestException",
        "Launch template p5 has no version 7",
    ),
}


@pytest.mark.parametrize("case", WRONG_GROUPS, ids=list(WRONG_GROUPS))
def test_a_wrong_group_is_refused(imaginary: Imaginary, case: str) -> None:
    template_change, group_change, code, sentence = WRONG_GROUPS[case]
    template_change = {
        key: [{**entry, "subnetId": imaginary.subnets[0].id} if "subnetId" in entry else entry for entry in value]
        if key == "networkInterfaces"
        else value
        for key, value in template_change.items()
    }
    template = imaginary.make(TEMPLATE, **imaginary.template(**template_change))
    with pytest.raises(AwsError, match=code) as caught:
        imaginary.make(GROUP, **imaginary.group(template, **group_change))
    assert sentence in str(caught.value)


def test_a_group_with_efa_in_two_zones_finds_no_capacity(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, **imaginary.template())
    both = [subnet.id for subnet in imaginary.subnets[:2]]
    with pytest.raises(AwsError, match=r"InsufficientInstanceCapacity.*use1-az1, use1-az2.*one subnet"):
        imaginary.make(GROUP, **imaginary.group(template, subnetIds=both))


def test_a_system_group_may_be_in_three_zones(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, name="system", instanceType="m7i.xlarge")
    every = [subnet.id for subnet in imaginary.subnets]
    made = imaginary.make(GROUP, **imaginary.group(template, subnetIds=every, amiType=None, releaseVersion=None))
    assert made.outputs["status"] == "ACTIVE"


def test_the_right_block_passes(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, **imaginary.template(**BLOCK))
    assert imaginary.make(GROUP, **imaginary.group(template, capacityType="CAPACITY_BLOCK")).id == "gpu:p5"


@pytest.mark.parametrize(
    ("cidr", "code"),
    [("10.1.0.0/20", "InvalidSubnet.Range"), ("10.0.8.0/21", "InvalidSubnet.Conflict")],
)
def test_subnets_lie_in_their_vpc_and_beside_each_other(imaginary: Imaginary, cidr: str, code: str) -> None:
    with pytest.raises(AwsError, match=code):
        imaginary.make(SUBNET, vpcId=imaginary.vpc.id, cidrBlock=cidr, availabilityZoneId="use1-az1")


def test_a_control_plane_wants_two_zones(imaginary: Imaginary) -> None:
    imaginary.service.delete(CLUSTER, "gpu")
    with pytest.raises(AwsError, match="at least two different AZs"):
        imaginary.make(CLUSTER, name="two", roleArn="arn", vpcConfig={"subnetIds": [imaginary.subnets[0].id]})


@pytest.mark.parametrize("version", ["1.35", "1.38"])
def test_a_cluster_goes_up_one_minor_at_a_time(imaginary: Imaginary, version: str) -> None:
    with pytest.raises(AwsError, match=f"Unsupported Kubernetes minor version update from 1.36 to {version}"):
        imaginary.change(imaginary.cluster, version=version)
    assert imaginary.change(imaginary.cluster, version="1.37").inputs["version"] == "1.37"


def test_the_deployer_is_let_in_once(imaginary: Imaginary) -> None:
    entry = "aws:eks/accessEntry:AccessEntry"
    with pytest.raises(AwsError, match="ResourceInUseException: The specified access entry resource is already in use"):
        imaginary.make(entry, clusterName="gpu", principalArn="arn:aws:iam::111122223333:role/sandbox")
    assert imaginary.make(entry, clusterName="gpu", principalArn="arn:aws:iam::111122223333:role/ml")


def test_an_add_on_is_made_once(imaginary: Imaginary) -> None:
    imaginary.make("aws:eks/addon:Addon", clusterName="gpu", addonName="vpc-cni")
    with pytest.raises(AwsError, match="ResourceInUseException: Addon already exists"):
        imaginary.make("aws:eks/addon:Addon", clusterName="gpu", addonName="vpc-cni")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"storageCapacity": 3600}, "StorageCapacity 3600 is invalid for PERSISTENT_2"),
        ({"perUnitStorageThroughput": None}, "PerUnitStorageThroughput None is invalid"),
        ({"perUnitStorageThroughput": 200}, "allowed: 125, 250, 500, 1000"),
    ],
)
def test_lustre_sizes(imaginary: Imaginary, change: dict[str, Any], sentence: str) -> None:
    token = "aws:fsx/lustreFileSystem:LustreFileSystem"
    right = {
        "deploymentType": "PERSISTENT_2",
        "storageCapacity": 2400,
        "perUnitStorageThroughput": 250,
        "subnetIds": imaginary.subnets[0].id,
    }
    check_alone(token, right)
    check_alone(token, {**right, "storageCapacity": UNKNOWN, "perUnitStorageThroughput": UNKNOWN})
    with pytest.raises(AwsError, match="BadRequest") as caught:
        check_alone(token, {**right, **change})
    assert sentence in str(caught.value)


def test_the_network_of_another_account_is_not_there(imaginary: Imaginary) -> None:
    with pytest.raises(AwsError, match=r"InvalidVpcID\.NotFound: The vpc ID 'vpc-00000000000000000' does not exist"):
        imaginary.make(SUBNET, vpcId="vpc-00000000000000000", cidrBlock="10.0.0.0/24", availabilityZoneId="use1-az1")


def test_vpcs_are_independent(imaginary: Imaginary) -> None:
    other = imaginary.make(VPC, cidrBlock="10.0.0.0/16")
    assert imaginary.make(SUBNET, vpcId=other.id, cidrBlock="10.0.0.0/20", availabilityZoneId="use1-az1")
