"""Security groups on the template as a whole and network interfaces in it exclude each other (facts/aws.md 7 #7)."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain


def check(template: Mapping[str, Plain]) -> None:
    """Raise AwsError where both are there."""
    if template.get("networkInterfaces") and (
        template.get("vpcSecurityGroupIds") or template.get("securityGroupNames")
    ):
        raise AwsError(
            "InvalidParameterCombination",
            # AWS's words.
            "Network interfaces and an instance-level security groups may not be specified on the same request. "
            "Put the groups into each entry of network_interfaces instead of vpc_security_group_ids.",
        )
