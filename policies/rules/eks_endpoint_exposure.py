"""The cluster's API endpoint must not be open to the whole internet."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import mapping, sequence, text

_OPEN = "0.0.0.0/0"  # EKS's default


def _is_wide(cidr: str, narrowest_bits: int) -> bool:
    try:
        return ipaddress.ip_network(cidr, strict=False).prefixlen < narrowest_bits
    except ValueError:
        return False


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """Judge clusters whose public endpoint is on; it is, unless they say otherwise."""
    network = mapping(resource.at("vpcConfig"))
    if text(network.get("endpointPublicAccess")) == "false":
        return
    cidrs = [text(cidr) or "" for cidr in sequence(network.get("publicAccessCidrs"))] or [_OPEN]
    wide = [cidr for cidr in cidrs if _is_wide(cidr, int(parameters["narrowest_prefix_bits"]))]
    if wide:
        yield violation(
            f"the public API endpoint answers {', '.join(wide)}: set endpointPublicAccess to false (and "
            "endpointPrivateAccess to true), or list your own networks in publicAccessCidrs",
            "vpcConfig",
        )


RULE = Rule(
    name="eks-endpoint-exposure",
    title="The cluster's API endpoint is private or restricted",
    source="EKS best practices, Restrict access to the API endpoint; facts/aws.md sections 5 and 9.1 (the default is "
    "0.0.0.0/0)",
    fix="Switch the public endpoint off, or restrict publicAccessCidrs.",
    applies_to=("aws:eks/cluster:Cluster",),
    check=check,
    parameters={
        "narrowest_prefix_bits": Parameter(
            8, "integer", "A network with fewer prefix bits than this counts as the internet."
        )
    },
)
