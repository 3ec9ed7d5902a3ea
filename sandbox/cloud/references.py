"""Ids that inputs name must exist: AWS refuses a subnet of a VPC that isn't there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox.cloud.account import Account
from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain, leaves

# By the id's prefix, EC2's error code and sentence ("Error codes for the Amazon EC2 API"). Ids of what is bought or
# made outside the program (cr-, pcx-, tgw-) are not looked up.
_NOT_FOUND = {
    "vpc-": ("InvalidVpcID.NotFound", "The vpc ID '{id}' does not exist"),
    "subnet-": ("InvalidSubnetID.NotFound", "The subnet ID '{id}' does not exist"),
    "sg-": ("InvalidGroup.NotFound", "The security group '{id}' does not exist"),
    "rtb-": ("InvalidRouteTableID.NotFound", "The routeTable ID '{id}' does not exist"),
    "igw-": ("InvalidInternetGatewayID.NotFound", "The internetGateway ID '{id}' does not exist"),
    "nat-": ("NatGatewayNotFound", "The Nat Gateway '{id}' does not exist"),
    "eipalloc-": ("InvalidAllocationID.NotFound", "The allocation ID '{id}' does not exist"),
    "lt-": (
        "InvalidLaunchTemplateId.NotFound",
        "The specified launch template, with template ID {id}, does not exist.",
    ),
    "fs-": ("FileSystemNotFound", "File system '{id}' does not exist."),
}


# A name that a person gave may begin like an id (lt-gpu); an id ends in 17 hexadecimal digits, an old one in 8.
_ID = re.compile(r"(?P<prefix>[a-z]+-)(?:[0-9a-f]{17}|[0-9a-f]{8})")


def check_references(inputs: Mapping[str, Plain], account: Account) -> None:
    """Look up every id in the inputs.

    Raises:
        AwsError: one does not exist.
    """
    for _, value in leaves({key: item for key, item in inputs.items() if key not in ("tags", "tagsAll")}):
        match = _ID.fullmatch(value) if isinstance(value, str) else None
        if match and match["prefix"] in _NOT_FOUND and not account.knows(match[0]):
            code, message = _NOT_FOUND[match["prefix"]]
            raise AwsError(code, message.format(id=match[0]))
