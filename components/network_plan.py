"""Which subnet gets which addresses. Pure: a network and zones in, CIDRs out.

Every zone has its fixed place by its number (``use1-az4`` is the fourth), so that a zone that comes or goes moves no
other subnet: a subnet's CIDR can't change, and moving one would replace every node in it. A /16 is cut like this:
quarter 0 into eight public subnets (/21), quarter 1 into eight private ones (/21), the upper half into eight GPU
subnets (/20, 4,091 addresses; facts/aws.md section 7 number 4 asks for /22 or larger).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from components.aws_arguments import zone_number

SubnetKind = Literal["public", "private", "gpu"]
_PLACES_BITS = 3  # eight zones; no region has more than six


@dataclass(frozen=True)
class PlannedSubnet:
    """One subnet: ``name`` is unique in the VPC and part of the resource's name."""

    kind: SubnetKind
    zone_id: str
    cidr: str

    @property
    def name(self) -> str:
        """Kind and zone, such as ``gpu-use1-az4``."""
        return f"{self.kind}-{self.zone_id}"


def plan_subnets(cidr: str, zones: Iterable[str], gpu_zones: Iterable[str]) -> tuple[PlannedSubnet, ...]:
    """The subnets of a VPC of ``cidr`` (/16 to /18): public and private in ``zones``, GPU subnets in ``gpu_zones``."""
    zones = tuple(zones)
    quarters = list(ipaddress.IPv4Network(cidr).subnets(prefixlen_diff=2))
    upper_half = quarters[2].supernet(prefixlen_diff=1)
    pools: dict[SubnetKind, ipaddress.IPv4Network] = {"public": quarters[0], "private": quarters[1], "gpu": upper_half}
    wanted: list[tuple[SubnetKind, str]] = [
        *(("public", zone) for zone in zones),
        *(("private", zone) for zone in zones),
        *(("gpu", zone) for zone in dict.fromkeys(gpu_zones)),
    ]
    return tuple(PlannedSubnet(kind, zone, _place(pools[kind], zone)) for kind, zone in wanted)


def _place(pool: ipaddress.IPv4Network, zone_id: str) -> str:
    return str(list(pool.subnets(prefixlen_diff=_PLACES_BITS))[zone_number(zone_id) - 1])


def nat_zone(zone_id: str, zones: tuple[str, ...], nat_gateways: str) -> str:
    """The zone whose NAT gateway serves the private or GPU subnet of ``zone_id``."""
    return zone_id if nat_gateways == "one-per-zone" else zones[0]
