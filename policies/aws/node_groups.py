"""Facts of ``aws:eks/nodeGroup:NodeGroup`` bodies, joined with their launch templates.

How a group names its template differs by source: an id in a state, the resource's name in a case file, and nothing that
is known yet in a preview. There, a template of the group's own name (or the only template) is taken for the group's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policies.aws.instances import has_gpu
from policies.aws.launch_templates import (
    CAPACITY_BLOCK_MARKET,
    LAUNCH_TEMPLATE,
    has_efa,
    instance_type_of,
    market_type,
)
from policies.model import Resource, ResourceSet
from policies.unknowns import NotDecidedError, is_unknown, mapping, mappings, sequence, text

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
SUBNET = "aws:ec2/subnet:Subnet"
CAPACITY_BLOCK = "CAPACITY_BLOCK"
_EC2_ID = re.compile(r"lt-[0-9a-f]{8,17}")


def launch_template_reference(group: Resource) -> dict[str, Any] | None:
    """The group's ``launchTemplate``, or None where EKS makes the template itself."""
    reference = group.at("launchTemplate")
    if isinstance(reference, list):  # how Terraform's schema, and so some exports, write one block
        reference = reference[0] if reference else None
    return mapping(reference) or None


def launch_template(group: Resource, resources: ResourceSet) -> Resource | None:
    """The launch template of a node group; None where it has none or where the template isn't among the resources.

    Raises:
        NotDecidedError: the reference is not known yet and more than one template could be meant.
    """
    reference = launch_template_reference(group)
    if reference is None:
        return None
    templates = list(resources.of(LAUNCH_TEMPLATE))
    wanted = [value for key in ("id", "name") if (value := reference.get(key)) is not None]
    unknown = any(is_unknown(value) for value in wanted)
    names = {text(value) for value in wanted if not is_unknown(value)} - {None, ""}
    for template in templates:
        if names & _names(template):
            return template
    if any(_EC2_ID.fullmatch(name) for name in names if name):
        return None  # a template from elsewhere
    namesake = _namesake(group, templates)
    if namesake or not unknown:
        return namesake
    if len(templates) == 1:
        return templates[0]
    raise NotDecidedError("launchTemplate is not known yet")


def _names(template: Resource) -> set[str | None]:
    """Every text that may point at a launch template: its Pulumi name, EC2 name, id and URN."""
    stated = {text(value) for value in (template.at("name"), template.at("id")) if not is_unknown(value)}
    return (stated | {template.name, template.id, template.urn, f"lt-{template.name}"}) - {None, ""}


def _namesake(group: Resource, templates: list[Resource]) -> Resource | None:
    """The template called like the group, or the only one whose name starts so (``p5`` and ``p5-template``)."""
    exact = [template for template in templates if template.name == group.name]
    close = exact or [template for template in templates if template.name.startswith(f"{group.name}-")]
    return close[0] if len(close) == 1 else None


def node_groups_of(template: Resource, resources: ResourceSet) -> Iterator[Resource]:
    """The managed node groups that use a launch template (those whose reference can be followed)."""
    for group in resources.of(NODE_GROUP):
        try:
            if launch_template(group, resources) is template:
                yield group
        except NotDecidedError:
            continue


def instance_types(group: Resource, resources: ResourceSet) -> list[str]:
    """The instance types of a group: its own list, or its launch template's; empty where neither says.

    Raises:
        NotDecidedError: not known yet.
    """
    own = [name for item in sequence(group.at("instanceTypes")) if (name := text(item))]
    template = None if own else launch_template(group, resources)
    from_template = instance_type_of(template) if template else None
    return own or ([from_template] if from_template else [])


def is_gpu_group(group: Resource, resources: ResourceSet) -> bool:
    """Whether a group's nodes carry NVIDIA GPUs: by instance type, else by an AMI type for NVIDIA."""
    types = instance_types(group, resources)
    return any(has_gpu(name) for name in types) if types else "NVIDIA" in (ami_type(group) or "")


def uses_efa(group: Resource, resources: ResourceSet) -> bool:
    """Whether a group's launch template attaches EFAs."""
    template = launch_template(group, resources)
    return template is not None and has_efa(template)


def ami_type(group: Resource) -> str | None:
    """The EKS AMI type, e.g. ``AL2023_x86_64_NVIDIA``; None where EKS chooses."""
    return text(group.at("amiType")) or None


def capacity_type(group: Resource) -> str:
    """``ON_DEMAND`` (EKS's default), ``SPOT`` or ``CAPACITY_BLOCK``."""
    return text(group.at("capacityType")) or "ON_DEMAND"


def uses_capacity_block(group: Resource, template: Resource | None) -> bool:
    """Whether a group runs, or is meant to run, on a capacity block."""
    return capacity_type(group) == CAPACITY_BLOCK or (
        template is not None and market_type(template) == CAPACITY_BLOCK_MARKET
    )


def taints(group: Resource) -> list[dict[str, str]]:
    """The group's taints that keep pods off, as Kubernetes writes them: key, value, effect."""
    effects = {
        "NO_SCHEDULE": "NoSchedule",
        "NO_EXECUTE": "NoExecute",
        "NOSCHEDULE": "NoSchedule",
        "NOEXECUTE": "NoExecute",
    }
    found = []
    for taint in mappings(group.at("taints")):
        effect = effects.get((text(taint.get("effect")) or "").upper())
        if effect:
            found.append(
                {"key": text(taint.get("key")) or "", "value": text(taint.get("value")) or "", "effect": effect}
            )
    return found
