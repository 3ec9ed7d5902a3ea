"""single-az: one zone for EFA and scarce GPU groups."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import NODE_GROUP, UNKNOWN, Object, efa_nics, judge, launch_template, node_group

RULE = "single-az"
TEMPLATE = launch_template(instance_type="p5.48xlarge", networkInterfaces=efa_nics(32))


def subnet(name: str, zone: Any) -> Object:
    return {"type": "aws:ec2/subnet:Subnet", "name": name, "properties": {"availabilityZone": zone}}


def test_subnets_in_different_zones() -> None:
    subnets = [subnet("one", "us-east-1a"), subnet("two", "us-east-1b")]
    assert judge(RULE, TEMPLATE, *subnets, node_group(subnetIds=["one", "two"])) == [f"violation {NODE_GROUP}"]


@pytest.mark.parametrize(
    "names", [["az-a", "az-b"], ["private-us-east-1a", "private-us-east-1c"], ["gpu-use1-az1", "gpu-use1-az2"]]
)
def test_zones_that_only_the_names_tell(names: list[str]) -> None:
    assert judge(RULE, TEMPLATE, node_group(subnetIds=names)) == [f"violation {NODE_GROUP}"]


def test_several_subnets_pass_in_one_zone_only() -> None:
    subnets = [subnet("one", "us-east-1a"), subnet("two", "us-east-1a")]
    assert judge(RULE, TEMPLATE, *subnets, node_group(subnetIds=["one", "two"])) == []
    # Several subnets are several zones, unless the subnets are here and say otherwise.
    ids = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    assert judge(RULE, TEMPLATE, node_group(subnetIds=ids)) == [f"violation {NODE_GROUP}"]


def test_a_g_type_group_is_advised_only() -> None:
    group = node_group(template=None, instanceTypes=["g6e.4xlarge"], subnetIds=["az-a", "az-b"])
    assert judge(RULE, group) == [f"advice {NODE_GROUP}"]


def test_not_known_yet() -> None:
    assert judge(RULE, TEMPLATE, node_group(subnetIds=UNKNOWN)) == [f"undecided {NODE_GROUP}"]
    assert judge(RULE, TEMPLATE, node_group(subnetIds=[UNKNOWN])) == []
    assert judge(RULE, TEMPLATE, node_group(subnetIds=[UNKNOWN, UNKNOWN])) == [f"undecided {NODE_GROUP}"]
    unknown_zones = [subnet("one", UNKNOWN), subnet("two", UNKNOWN)]
    assert judge(RULE, TEMPLATE, *unknown_zones, node_group(subnetIds=["one", "two"])) == [f"undecided {NODE_GROUP}"]


def test_cpu_groups_spread() -> None:
    cpu = node_group(
        template=None, amiType="AL2023_x86_64_STANDARD", instanceTypes=["m7i.xlarge"], subnetIds=["az-a", "az-b"]
    )
    assert judge(RULE, cpu) == []
