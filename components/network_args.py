"""The stack's ``network`` section."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import field_validator

from components.arguments import Args, NotEmpty
from components.aws_arguments import Cidr, ZoneId

# What ``components/network_plan.py`` cuts: a /18 still gives every zone a GPU subnet of /22, and AWS allows no VPC
# above /16.
WIDEST_PREFIX = 16
NARROWEST_PREFIX = 18

InterfaceEndpoint = Literal[
    "autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem", "elasticloadbalancing", "fsx",
    "kms", "logs", "monitoring", "secretsmanager", "ssm", "ssmmessages", "sts",
]  # fmt: skip
"""AWS services that can get an address inside the VPC; S3 always has its (free) gateway endpoint."""


class FlowLogs(Args):
    """Flow logs of the whole VPC, to CloudWatch."""

    retention_days: Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096] = 30
    traffic: Literal["ALL", "ACCEPT", "REJECT"] = "REJECT"
    """REJECT by default: EFA traffic of a busy cluster would cost more to log than it tells."""


class NetworkArgs(Args):
    """One VPC. GPU subnets follow from the node groups' zones and need no line here."""

    cidr: Cidr = "10.0.0.0/16"
    zones: Annotated[tuple[ZoneId, ...], NotEmpty]
    """Zones of the public and private subnets: system nodes, load balancers, the control plane's interfaces."""
    nat_gateways: Literal["one", "one-per-zone"] = "one"
    """``one`` is cheaper; with it, the zone of the gateway takes the other zones' way to the internet with it."""
    interface_endpoints: tuple[InterfaceEndpoint, ...] = ()
    flow_logs: FlowLogs | None = None

    @field_validator("cidr")
    @classmethod
    def _room_for_every_zone(cls, value: str) -> str:
        prefix = ipaddress.IPv4Network(value).prefixlen
        if not WIDEST_PREFIX <= prefix <= NARROWEST_PREFIX:
            raise ValueError(
                f"a /{prefix} network; allowed: /{WIDEST_PREFIX} to /{NARROWEST_PREFIX} "
                "(a GPU subnet needs /22 or larger)"
            )
        return value

    @field_validator("zones")
    @classmethod
    def _different_zones(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) != len(value):
            raise ValueError("names a zone twice")
        if len(value) < 2:
            raise ValueError("is one zone; EKS wants subnets in two at least")
        return value
