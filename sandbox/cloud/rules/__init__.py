"""The rules of AWS that no schema knows. One a file; each says where it is from and answers with AWS's error.

A sentence in AWS's own words is marked "AWS's words" beside it; the others say the same in ours, under AWS's code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.rules import (
    capacity_block,
    cluster_subnets,
    cluster_version,
    deployer_access_entry,
    lustre_sizes,
    managed_group_template,
    network_layout,
    one_availability_zone,
    placement_with_capacity_block,
    scaling_bounds,
    security_groups_twice,
    subnet_ranges,
)
from sandbox.cloud.values import Plain

Alone = Callable[[Mapping[str, Plain]], None]
"""Judges one resource by its own inputs, in which values may be unknown; raises AwsError."""
WithAccount = Callable[[Mapping[str, Plain], Account, Resource | None], None]
"""Judges inputs, all known, by what is in the account; the third is the resource itself before an update."""

_ALONE: dict[str, tuple[Alone, ...]] = {
    "aws:ec2/launchTemplate:LaunchTemplate": (
        security_groups_twice.check,
        network_layout.check,
        placement_with_capacity_block.check,
    ),
    "aws:eks/nodeGroup:NodeGroup": (scaling_bounds.check, managed_group_template.check_group),
    "aws:fsx/lustreFileSystem:LustreFileSystem": (lustre_sizes.check,),
}
_WITH_ACCOUNT: dict[str, tuple[WithAccount, ...]] = {
    "aws:ec2/subnet:Subnet": (subnet_ranges.check,),
    "aws:eks/accessEntry:AccessEntry": (deployer_access_entry.check,),
    "aws:eks/cluster:Cluster": (cluster_subnets.check, cluster_version.check),
    "aws:eks/nodeGroup:NodeGroup": (
        managed_group_template.check,
        capacity_block.check,
        one_availability_zone.check,
    ),
}


def check_alone(token: str, inputs: Mapping[str, Plain]) -> None:
    """The rules on the resource's own inputs.

    Raises:
        AwsError: one is broken.
    """
    for rule in _ALONE.get(token, ()):
        rule(inputs)


def check_against_account(token: str, inputs: Mapping[str, Plain], account: Account, old: Resource | None) -> None:
    """The rules on the resource among the others.

    Raises:
        AwsError: one is broken.
    """
    for rule in _WITH_ACCOUNT.get(token, ()):
        rule(inputs, account, old)
