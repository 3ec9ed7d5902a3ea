"""The body of a GPU group's launch template: network interfaces, disks, metadata service, market. Pure: dicts out.

What EKS forbids in a managed group's template isn't here: no subnet, no instance profile, no security group beside
those of the interfaces (facts/aws.md 2.1). Keys are those of ``aws.ec2.LaunchTemplate``'s arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from catalog.efa_layout import NetworkInterface, efa_layout
from components.node_group_args import NodeGroupArgs
from components.node_group_plan import PlannedNodeGroup
from components.user_data import bottlerocket_user_data, encoded, nodeadm_user_data

# Bottlerocket's root is read-only and small; images lie on its second volume.
_DATA_DEVICE: Final = {"al2023": "/dev/xvda", "bottlerocket": "/dev/xvdb"}
_TAGGED: Final = ("instance", "volume", "network-interface")


def metadata_options() -> dict[str, Any]:
    """IMDSv2 only, and one hop: a pod can't take the node's role. Pods have Pod Identity."""
    return {"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1}


def encrypted_disk(device: str, size_gib: int) -> dict[str, Any]:
    """A gp3 volume, encrypted with the account's EBS key, gone with the instance."""
    disk = {"volume_type": "gp3", "volume_size": size_gib, "encrypted": "true", "delete_on_termination": "true"}
    return {"device_name": device, "ebs": disk}


def network_interfaces(
    layout: tuple[NetworkInterface, ...],
    cluster_security_group_id: pulumi.Input[str],
    efa_security_group_id: pulumi.Input[str],
) -> list[dict[str, Any]]:
    """The template's ``network_interfaces``.

    An interface with an address talks to the cluster, so it needs the cluster's own group: EKS adds that only where a
    template names none. One with EFA needs the EFA group; ``efa`` is both.
    """
    groups: dict[str, list[pulumi.Input[str]]] = {
        "interface": [cluster_security_group_id],
        "efa": [cluster_security_group_id, efa_security_group_id],
        "efa-only": [efa_security_group_id],
    }
    return [
        {
            "network_card_index": entry.card,
            "device_index": entry.device,
            "interface_type": entry.type,
            "security_groups": groups[entry.type],
            "delete_on_termination": "true",
        }
        for entry in layout
    ]


def market(group: PlannedNodeGroup) -> dict[str, Any]:
    """How the instances are bought: which reservation, and the market of a capacity block."""
    found: dict[str, Any] = {}
    if group.capacity_type == "CAPACITY_BLOCK":
        found["instance_market_options"] = {"market_type": "capacity-block"}
    target = {
        "capacity_reservation_id": group.reservation_id,
        "capacity_reservation_resource_group_arn": group.resource_group_arn,
    }
    if any(target.values()):
        named = {key: value for key, value in target.items() if value}
        found["capacity_reservation_specification"] = {"capacity_reservation_target": named}
    return found


def launch_template_body(
    args: NodeGroupArgs,
    group: PlannedNodeGroup,
    *,
    cluster_security_group_id: pulumi.Input[str],
    efa_security_group_id: pulumi.Input[str],
    placement_group: pulumi.Input[str] | None,
    tags: Mapping[str, str],
) -> dict[str, Any]:
    """The whole template of one EKS node group; ``tags`` go on the instances, which take none from the group."""
    write = nodeadm_user_data if args.ami == "al2023" else bottlerocket_user_data
    body: dict[str, Any] = {
        # Here and not in the group: a capacity block wants it here, and both at once is refused.
        "instance_type": args.instance_type,
        "block_device_mappings": [encrypted_disk(_DATA_DEVICE[args.ami], args.root_volume_gib)],
        "metadata_options": metadata_options(),
        "user_data": encoded(write(args.nodes)),
        "tag_specifications": [{"resource_type": kind, "tags": {**tags, "Name": group.name}} for kind in _TAGGED],
        **market(group),
    }
    if args.nodes.efa_interfaces:
        layout = efa_layout(args.instance_type, args.network_layout)
        body["network_interfaces"] = network_interfaces(layout, cluster_security_group_id, efa_security_group_id)
    if placement_group is not None:
        body["placement"] = {"group_name": placement_group}
    return body
