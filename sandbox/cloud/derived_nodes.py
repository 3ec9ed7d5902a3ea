"""From a node group and its launch template to the nodes that EC2 would start: what is not asked for is not there.

No EFA interface in the template means no ``vpc.amazonaws.com/efa``; no RAID0 means the small root volume; a taint that
the GPU operator doesn't tolerate, or an image without the driver, means no ``nvidia.com/gpu``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from catalog.facts import UnknownFactError
from catalog.instance_types import InstanceType, instance_type
from sandbox.allocatable import DEFAULT_ROOT_VOLUME_GIB, GPU_RESOURCE, default_maximum_pods, node_resources
from sandbox.cloud.account import Account, Resource
from sandbox.cloud.errors import AwsError
from sandbox.cloud.user_data import NodeConfig, evaluate_maximum_pods, node_config
from sandbox.node_groups import NodeGroup, Taint
from sandbox.zones import zone_id

CLUSTER = "aws:eks/cluster:Cluster"
SUBNET = "aws:ec2/subnet:Subnet"
DEFAULT_INSTANCE_TYPE = "t3.medium"
"""What EKS takes where neither the group nor the template names a type."""
ROOT_DEVICES = ("/dev/xvda", "/dev/xvdb")
"""AL2023's root, and Bottlerocket's data volume, which is the one that pods use."""
TAINT_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
NOT_JOINED = "Instances failed to join the kubernetes cluster"
"""EKS's own sentence, which comes after some 20 minutes of waiting."""


def node_group(group: Resource, template: Mapping[str, Any] | None, account: Account) -> NodeGroup:
    """The group's nodes.

    Raises:
        AwsError: EC2 would start none of them, or they would never join the cluster.
    """
    inputs, template = group.inputs, template or {}
    _must_join(inputs, template, account)
    instance = _instance(inputs, template)
    config = node_config(template.get("userData"))
    taints = tuple(
        Taint(key=taint["key"], effect=TAINT_EFFECTS[taint["effect"]], value=taint.get("value") or "")
        for taint in inputs.get("taints") or ()
    )
    gpus = instance.gpus if gpus_are_visible(inputs.get("amiType"), taints) else 0
    named = inputs.get("launchTemplate") or {}
    labels = dict(inputs.get("labels") or {})
    if named:
        labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] = str(named["version"])
    return NodeGroup(
        name=group.state["nodeGroupName"],
        node_prefix=_node_prefix(group),
        instance=instance,
        count=inputs["scalingConfig"]["desiredSize"],
        zones=tuple(subnet_zone(account, subnet) for subnet in inputs["subnetIds"]),
        resources=node_resources(
            instance,
            gpus=gpus,
            efa_interfaces=efa_interfaces(template),
            storage_bytes=_storage_bytes(inputs, template, instance, config),
            pods=_maximum_pods(instance, config),
        ),
        labels={**labels, "eks.amazonaws.com/nodegroup-image": _image_id(inputs)},
        taints=taints,
        capacity_type=inputs.get("capacityType") or "ON_DEMAND",
        image=f"{inputs.get('amiType') or 'AL2023_x86_64_STANDARD'} {inputs.get('releaseVersion') or ''}".strip(),
        gpus_visible=gpus > 0,
    )


def gpus_are_visible(ami_type: str | None, taints: tuple[Taint, ...]) -> bool:
    """Whether the image has the GPU driver and the operator's device plugin tolerates every taint."""
    kept_off = [taint for taint in taints if taint.effect != "PreferNoSchedule" and taint.key != GPU_RESOURCE]
    return "NVIDIA" in (ami_type or "") and not kept_off


def efa_interfaces(template: Mapping[str, Any]) -> int:
    """How many interfaces of a template carry EFA."""
    interfaces = template.get("networkInterfaces") or ()
    return sum(interface.get("interfaceType") in ("efa", "efa-only") for interface in interfaces)


def subnet_zone(account: Account, subnet_id: str) -> str:
    """The zone id of a subnet."""
    subnet = account.get(SUBNET, subnet_id)
    if subnet is None:
        raise AwsError("InvalidSubnetID.NotFound", f"The subnet ID '{subnet_id}' does not exist")
    return str(subnet.state["availabilityZoneId"])


def zone_of_subnet(inputs: Mapping[str, Any]) -> str:
    """The zone id that a subnet's inputs say: by id, or by name."""
    if inputs.get("availabilityZoneId"):
        return str(inputs["availabilityZoneId"])
    return zone_id(str(inputs["availabilityZone"]))


def _must_join(inputs: Mapping[str, Any], template: Mapping[str, Any], account: Account) -> None:
    cluster = account.get(CLUSTER, inputs["clusterName"])
    if cluster is None:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {inputs['clusterName']}.")
    wanted = cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
    groups = template.get("vpcSecurityGroupIds")
    for interface in template.get("networkInterfaces") or ():
        if not interface.get("networkCardIndex") and not interface.get("deviceIndex"):
            groups = interface.get("securityGroups")
    if groups and wanted not in groups:
        raise AwsError(
            "NodeCreationFailure",
            f"{NOT_JOINED}: the cluster's security group {wanted} is not on the primary network interface, which has "
            f"{', '.join(groups)}. A template that names any group must name that one too.",
        )


def _instance(inputs: Mapping[str, Any], template: Mapping[str, Any]) -> InstanceType:
    name = template.get("instanceType") or next(iter(inputs.get("instanceTypes") or ()), DEFAULT_INSTANCE_TYPE)
    try:
        return instance_type(name)
    except UnknownFactError as error:
        raise AwsError("InvalidParameterValue", f"The sandbox can't play this instance type: {error}") from None


def _storage_bytes(
    inputs: Mapping[str, Any], template: Mapping[str, Any], instance: InstanceType, config: NodeConfig
) -> int:
    if config.raid0 and instance.local_nvme_gb:
        return instance.local_nvme_gb * 10**9
    sizes_gib = [
        mapping["ebs"]["volumeSize"]
        for mapping in template.get("blockDeviceMappings") or ()
        if mapping.get("deviceName") in ROOT_DEVICES and (mapping.get("ebs") or {}).get("volumeSize")
    ]
    return int(max(sizes_gib, default=inputs.get("diskSize") or DEFAULT_ROOT_VOLUME_GIB)) * 2**30


def _maximum_pods(instance: InstanceType, config: NodeConfig) -> int:
    if config.maximum_pods is not None:
        return config.maximum_pods
    if config.maximum_pods_expression is None:
        return default_maximum_pods(instance)
    variables = {
        "default_enis": instance.enis_on_card_zero,
        "ips_per_eni": instance.ips_per_eni,
        "max_pods": default_maximum_pods(instance),
    }
    return evaluate_maximum_pods(config.maximum_pods_expression, variables)


def _node_prefix(group: Resource) -> str:
    """Short enough to read: of a name that the provider made of a prefix and the time, the last digits do."""
    prefix = group.inputs.get("nodeGroupNamePrefix")
    name = str(group.state["nodeGroupName"])
    return f"{str(prefix).rstrip('-')}-{name[-5:]}" if prefix else name


def _image_id(inputs: Mapping[str, Any]) -> str:
    """Some id that changes with the image, as the AMI's does."""
    words = f"{inputs.get('amiType')} {inputs.get('releaseVersion')} {inputs.get('version')}"
    return f"ami-{hashlib.sha256(words.encode()).hexdigest()[:17]}"
