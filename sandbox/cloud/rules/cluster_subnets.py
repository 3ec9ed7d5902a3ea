"""An EKS control plane wants subnets in two zones at least (EKS user guide, "networking requirements")."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.derived_nodes import subnet_zone
from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain

MINIMUM_ZONES = 2


def check(cluster: Mapping[str, Plain], account: Account, _: Resource | None) -> None:
    """Raise AwsError where they are in fewer. The sentence is AWS's words."""
    zones = {subnet_zone(account, subnet) for subnet in cluster["vpcConfig"]["subnetIds"]}
    if len(zones) < MINIMUM_ZONES:
        raise AwsError("InvalidParameterException", "Subnets specified must be in at least two different AZs")
