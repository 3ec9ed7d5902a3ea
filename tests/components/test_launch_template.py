"""Launch templates of GPU groups: interfaces, groups, disks and markets of every instance type and kind of capacity."""

from __future__ import annotations

import base64
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from catalog.efa_layout import efa_policies
from catalog.instance_types import instance_types
from components.launch_template import launch_template_body
from components.node_group_args import NodeGroupArgs
from components.node_group_plan import plan_node_groups
from components.user_data import bottlerocket_user_data, maximum_pods, nodeadm_user_data
from tests.aws_groups import ODCR, ON_DEMAND, blocks, node_group
from tests.program_recorder import NOW

GPU_TYPES = sorted(name for name, row in instance_types().items() if row.gpus)
EFA_TYPES = [name for name in GPU_TYPES if efa_policies(name)]
# What EKS refuses in a managed group's template (botocore, LaunchTemplateSpecification).
FORBIDDEN = {
    "iam_instance_profile",
    "hibernation_options",
    "vpc_security_group_ids",
    "security_group_names",
    "image_id",
}


def body(args: NodeGroupArgs) -> dict[str, Any]:
    return launch_template_body(
        args,
        plan_node_groups(args, NOW)[0],
        cluster_security_group_id="sg-cluster",
        efa_security_group_id="sg-efa",
        placement_group=None,
        tags={"Stack": "prod"},
    )


def test_the_33_interfaces_of_p5(golden: Callable[[str, Any], None]) -> None:
    interfaces = body(node_group())["network_interfaces"]
    assert len(interfaces) == 33
    golden("aws/network-interfaces-p5.48xlarge.yaml", interfaces)


@pytest.mark.parametrize("policy", ["ip-optimised", "bandwidth-optimised", "legacy"])
def test_layout_of_every_type(policy: str, golden: Callable[[str, Any], None]) -> None:
    """(card, device) type, groups: a line an interface."""
    layouts = {
        name: [
            f"({entry['network_card_index']}, {entry['device_index']}) {entry['interface_type']} "
            f"{' '.join(entry['security_groups'])}"
            for entry in body(node_group(name, network_layout=policy))["network_interfaces"]
        ]
        for name in EFA_TYPES
        if policy in efa_policies(name)
    }
    golden(f"aws/network-layouts-{policy}.yaml", layouts)


@pytest.mark.parametrize("name", EFA_TYPES)
def test_who_has_an_address_is_in_the_clusters_group_and_efa_in_its_own(name: str) -> None:
    for policy in efa_policies(name):
        interfaces = body(node_group(name, network_layout=policy))["network_interfaces"]
        primary = [entry for entry in interfaces if (entry["network_card_index"], entry["device_index"]) == (0, 0)]
        assert ["sg-cluster" in entry["security_groups"] for entry in primary] == [True]
        for entry in interfaces:
            assert ("sg-efa" in entry["security_groups"]) == (entry["interface_type"] in ("efa", "efa-only"))
            assert ("sg-cluster" in entry["security_groups"]) == (entry["interface_type"] in ("efa", "interface"))


@pytest.mark.parametrize("name", [name for name in GPU_TYPES if name not in EFA_TYPES])
def test_a_type_without_efa_leaves_its_interface_to_eks(name: str) -> None:
    """EKS adds the cluster's security group only where the template names none."""
    assert "network_interfaces" not in body(node_group(name))


@pytest.mark.parametrize("capacity", [ON_DEMAND, ODCR, blocks()], ids=["on-demand", "odcr", "block"])
def test_markets(capacity: dict[str, Any], golden: Callable[[str, Any], None]) -> None:
    """The whole template but its interfaces, which have files of their own."""
    template = body(node_group(capacity=capacity))
    del template["network_interfaces"]
    template["user_data"] = base64.b64decode(template["user_data"]).decode()
    golden(f"aws/launch-template-{capacity['kind']}.yaml", template)


@pytest.mark.parametrize("name", GPU_TYPES)
def test_nothing_that_a_managed_group_refuses(name: str) -> None:
    template = body(node_group(name))
    assert not FORBIDDEN & set(template)
    assert all("subnet_id" not in entry for entry in template.get("network_interfaces", []))
    assert template["metadata_options"]["http_tokens"] == "required"
    assert [disk["ebs"]["encrypted"] for disk in template["block_device_mappings"]] == ["true"]


def test_a_block_never_has_a_placement_group_and_a_reservation_only_its_own() -> None:
    """facts/aws.md section 7 number 1: else 11 of 16 reserved instances launched."""
    assert not plan_node_groups(node_group(capacity=blocks()), NOW)[0].own_placement_group
    assert not plan_node_groups(node_group(capacity=ODCR), NOW)[0].own_placement_group
    own = plan_node_groups(node_group(capacity=ODCR | {"placement_group": "theirs"}), NOW)[0]
    assert own.placement_group == "theirs"
    assert plan_node_groups(node_group(capacity=ON_DEMAND), NOW)[0].own_placement_group
    assert not plan_node_groups(node_group("g5.2xlarge", ON_DEMAND), NOW)[0].own_placement_group


@pytest.mark.parametrize(
    ("name", "pods"), [("p5.48xlarge", 51), ("p5en.48xlarge", 149), ("p6-b300.48xlarge", 198), ("p4d.24xlarge", 250)]
)
def test_pods_count_only_interfaces_that_give_addresses(name: str, pods: int) -> None:
    assert maximum_pods(instance_types()[name]) == pods


@pytest.mark.parametrize("name", GPU_TYPES)
def test_user_data_of_al2023_is_a_node_config(name: str) -> None:
    text = nodeadm_user_data(instance_types()[name])
    head, _, part = text.partition("Content-Type: application/node.eks.aws\n\n")
    assert head.startswith("MIME-Version: 1.0")
    config = yaml.safe_load(part.rsplit("--gpu-inference--", 1)[0])
    assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    has_disks = config["spec"].get("instance") == {"localStorage": {"strategy": "RAID0"}}
    assert has_disks == bool(instance_types()[name].local_nvme_gb)
    row = instance_types()[name]
    limited = "maxPodsExpression" in config["spec"].get("kubelet", {})
    assert limited == (row.efa_interfaces > 0 and row.efa_on_card_zero)


@pytest.mark.parametrize("ami", ["al2023", "bottlerocket"])
def test_user_data(ami: str, golden: Callable[[str, Any], None]) -> None:
    """With EFA on card 0, with an ENA alone there, and with neither EFA nor a limit of its own."""
    write = {"al2023": nodeadm_user_data, "bottlerocket": bottlerocket_user_data}[ami]
    names = ["p5.48xlarge", "p6-b300.48xlarge", "g5.2xlarge"]
    golden(f"aws/user-data-{ami}.yaml", {name: write(instance_types()[name]).splitlines() for name in names})


def test_user_data_of_bottlerocket_is_toml() -> None:
    template = body(node_group(ami="bottlerocket", release_version="1.64.0-aaaaaaaa"))
    settings = tomllib.loads(base64.b64decode(template["user_data"]).decode())["settings"]
    assert settings["kubernetes"]["max-pods"] == 51
    assert settings["kernel"]["sysctl"]["vm.nr_hugepages"] == "3000"
    assert "/var/lib/containerd" in settings["bootstrap-commands"]["local-disks"]["commands"][1]
    # Images lie on its second volume; the first is a read-only root of two GiB.
    assert template["block_device_mappings"][0]["device_name"] == "/dev/xvdb"
