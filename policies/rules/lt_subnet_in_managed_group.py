"""The launch template of a managed node group must not choose a subnet: the group does."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.launch_templates import LAUNCH_TEMPLATE
from policies.aws.node_groups import node_groups_of
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import is_unknown, mappings, text


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge templates with a subnet that a managed group uses; self-managed groups may state one."""
    # A subnet that is not known yet is a subnet all the same.
    chosen = [
        index
        for index, interface in enumerate(mappings(resource.at("networkInterfaces")))
        if is_unknown(interface.get("subnetId")) or text(interface.get("subnetId"))
    ]
    if not chosen:
        return
    for group in node_groups_of(resource, resources):
        yield violation(
            f"{len(chosen)} network interfaces name a subnet, and the managed node group {group.name!r} uses this "
            "template, which EKS refuses: remove subnetId here and state subnetIds on the group",
            "networkInterfaces",
            chosen[0],
            "subnetId",
        )


RULE = Rule(
    name="lt-subnet-in-managed-group",
    title="A managed node group's template names no subnet",
    source="eksctl #8207; EKS API, LaunchTemplateSpecification",
    fix="Remove subnetId from the template's network interfaces and state subnetIds on the node group.",
    applies_to=(LAUNCH_TEMPLATE,),
    check=check,
    scope="set",
)
