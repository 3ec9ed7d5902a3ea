"""A node group with EFA, or of a scarce GPU type, must live in one availability zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policies.aws.instances import is_scarce
from policies.aws.node_groups import NODE_GROUP, SUBNET, instance_types, is_gpu_group, uses_efa
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import sequence, text

# A zone in a subnet's name: …us-east-1a, …-az-b, …use1-az3, …-private-c, …-1b. A real id is longer than that.
_ZONE_IN_NAME = re.compile(r"(?:[a-z]{2}-[a-z]+-\d([a-f])|az-?([a-f]|\d)|[-_]\d?([a-f]))$")


def _zone(reference: Any, resources: ResourceSet) -> str | None:
    """The zone of a subnet: what the subnet says, else what its name says; None where neither tells.

    Raises:
        NotDecidedError: the subnet, or its zone, is not known yet.
    """
    subnet = resources.referenced(SUBNET, reference)
    for key in ("availabilityZone", "availabilityZoneId"):
        zone = text(subnet.at(key)) if subnet else None
        if zone:
            return zone
    match = _ZONE_IN_NAME.search(text(reference) or "")
    return next((group for group in match.groups() if group), None) if match else None


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge GPU groups; a CPU group spreads over zones, and should."""
    subnets = sequence(resource.at("subnetIds"))
    if len(subnets) <= 1 or not is_gpu_group(resource, resources):
        return
    efa = uses_efa(resource, resources)
    scarce = any(is_scarce(name) for name in instance_types(resource, resources))
    zones = {_zone(reference, resources) for reference in subnets}
    if None not in zones and len(zones) == 1:
        return
    named = sorted(zone for zone in zones if zone)
    where = f" in the zones {', '.join(named)}" if len(named) > 1 else ""
    why = "EFA does not cross zones" if efa else "a zone without capacity puts the whole group into CREATE_FAILED"
    # A VPC has one subnet of a kind in a zone: several subnets are several zones, unless the subnets say otherwise.
    report = violation if efa or scarce else advice
    yield report(
        f"the group has {len(subnets)} subnets{where}, and {why}: give it one subnet, in the zone of its capacity",
        "subnetIds",
    )


RULE = Rule(
    name="single-az",
    title="An EFA or scarce GPU node group lives in one zone",
    source="terraform-aws-eks #3044, #3045; containers-roadmap #2204; EC2 user guide, EFA limitations",
    fix="Give the node group exactly one subnet, in the zone of its reservation or placement group.",
    applies_to=(NODE_GROUP,),
    check=check,
    scope="set",
)
