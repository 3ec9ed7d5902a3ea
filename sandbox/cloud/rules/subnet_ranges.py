"""A subnet's addresses lie in its VPC's, and in no other subnet's."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"


def check(subnet: Mapping[str, Plain], account: Account, old: Resource | None) -> None:
    """Raise AwsError where they don't. The sentences are AWS's words."""
    vpc = account.get(VPC, subnet["vpcId"])
    if vpc is None or not subnet.get("cidrBlock"):
        return
    wanted = ipaddress.IPv4Network(subnet["cidrBlock"])
    if not wanted.subnet_of(ipaddress.IPv4Network(vpc.inputs["cidrBlock"])):
        raise AwsError("InvalidSubnet.Range", f"The CIDR '{wanted}' is invalid.")
    for other in account.of_type(SUBNET):
        if other == old or other.inputs["vpcId"] != subnet["vpcId"] or not other.inputs.get("cidrBlock"):
            continue
        if wanted.overlaps(ipaddress.IPv4Network(other.inputs["cidrBlock"])):
            raise AwsError("InvalidSubnet.Conflict", f"The CIDR '{wanted}' conflicts with another subnet")
