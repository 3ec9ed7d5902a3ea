"""Subnets from a network: no overlap, room for GPUs, and no subnet that moves when a zone comes or goes."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from components.network import subnet_tags
from components.network_plan import nat_zone, plan_subnets

prefixes = st.integers(16, 18)
zone_sets = st.sets(st.sampled_from([f"use1-az{number}" for number in range(1, 7)]), min_size=2)


def test_subnets_of_production(golden: Callable[[str, Any], None]) -> None:
    planned = plan_subnets("10.0.0.0/16", ["use1-az2", "use1-az4", "use1-az6"], ["use1-az4"])
    golden(
        "aws/subnets.yaml",
        {subnet.name: {"cidr": subnet.cidr, "tags": subnet_tags(subnet, "prod")} for subnet in planned},
    )


@given(prefix=prefixes, zones=zone_sets, gpu_zones=zone_sets)
def test_subnets_are_inside_and_apart_and_large_enough(prefix: int, zones: set[str], gpu_zones: set[str]) -> None:
    vpc = ipaddress.IPv4Network(f"10.64.0.0/{prefix}")
    planned = plan_subnets(str(vpc), sorted(zones), sorted(gpu_zones))
    networks = [ipaddress.IPv4Network(subnet.cidr) for subnet in planned]
    assert all(network.subnet_of(vpc) for network in networks)
    assert not any(one.overlaps(other) for one, other in combinations(networks, 2))
    assert all(ipaddress.IPv4Network(subnet.cidr).prefixlen <= 22 for subnet in planned if subnet.kind == "gpu")
    assert len({subnet.name for subnet in planned}) == len(zones) * 2 + len(gpu_zones)


@given(zones=zone_sets, more=zone_sets, gpu_zones=zone_sets)
def test_another_zone_moves_no_subnet(zones: set[str], more: set[str], gpu_zones: set[str]) -> None:
    before = {subnet.name: subnet.cidr for subnet in plan_subnets("10.0.0.0/16", sorted(zones), sorted(gpu_zones))}
    grown = plan_subnets("10.0.0.0/16", sorted(zones | more, reverse=True), sorted(gpu_zones | more))
    after = {subnet.name: subnet.cidr for subnet in grown}
    assert before.items() <= after.items()


def test_one_nat_gateway_serves_every_zone_or_each_its_own() -> None:
    zones = ("use1-az2", "use1-az4")
    assert {nat_zone(zone, zones, "one") for zone in (*zones, "use1-az6")} == {"use1-az2"}
    assert [nat_zone(zone, zones, "one-per-zone") for zone in zones] == list(zones)
