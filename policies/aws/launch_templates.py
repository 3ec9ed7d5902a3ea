"""Facts of ``aws:ec2/launchTemplate:LaunchTemplate`` bodies."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from policies.model import Resource
from policies.unknowns import is_unknown, mapping, mappings, number, sequence, text

LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
CAPACITY_BLOCK_MARKET = "capacity-block"
_EFA_TYPES = {"efa", "efa-only"}
# nodeadm's RAID strategies (facts/aws.md 3.4; Mount moves no images), Bottlerocket's command, and AL2's two ways.
_LOCAL_NVME = re.compile(
    r"strategy['\"]?\s*[:=]\s*['\"]?RAID|apiclient\W+ephemeral-storage|setup-local-disks\s+raid|--local-disks\s+raid",
    re.IGNORECASE,
)


def interface_type(interface: dict[str, Any]) -> str:
    """``interface`` (EC2's default), ``efa`` or ``efa-only``."""
    return text(interface.get("interfaceType")) or "interface"


def is_efa(interface: dict[str, Any]) -> bool:
    """Whether an entry of ``networkInterfaces`` is an EFA."""
    return interface_type(interface) in _EFA_TYPES


def has_efa(template: Resource) -> bool:
    """Whether a launch template attaches an EFA."""
    return any(is_efa(interface) for interface in mappings(template.at("networkInterfaces")))


def instance_type_of(template: Resource) -> str | None:
    """The template's instance type, or None where it leaves that to the node group."""
    return text(template.at("instanceType")) or None


def market_type(template: Resource) -> str | None:
    """``spot``, ``capacity-block`` or None for on-demand."""
    return text(template.at("instanceMarketOptions", "marketType")) or None


def reservation(template: Resource) -> Any:
    """The capacity reservation's id, or its resource group's ARN; None where there is none, maybe ``Unknown``."""
    target = template.at("capacityReservationSpecification", "capacityReservationTarget")
    if is_unknown(target):
        return target
    target = mapping(target)
    for key in ("capacityReservationId", "capacityReservationResourceGroupArn"):
        value = target.get(key)
        if is_unknown(value) or text(value):
            return value
    return None


def largest_volume_gib(template: Resource) -> float | None:
    """The largest EBS volume that the template sizes, in GiB; None where it sizes none (the AMI's own size holds).

    The largest, since Bottlerocket keeps images on a second volume beside its small root.
    """
    sizes = [
        number(mapping(device.get("ebs")).get("volumeSize")) for device in mappings(template.at("blockDeviceMappings"))
    ]
    return max((size for size in sizes if size), default=None)


def uses_local_nvme(template: Resource) -> bool:
    """Whether the user data puts images and pods on the local NVMe disks (``localStorage.strategy: RAID0``)."""
    encoded = text(template.at("userData"))
    if not encoded:
        return False
    try:
        script = base64.b64decode(encoded, validate=True).decode("utf-8", errors="replace")
    except (binascii.Error, ValueError):
        script = encoded
    return _LOCAL_NVME.search(script) is not None


def top_level_security_groups(template: Resource) -> list[Any]:
    """Security groups beside the interfaces: by id or by name."""
    return [*sequence(template.at("vpcSecurityGroupIds")), *sequence(template.at("securityGroupNames"))]
