"""The EKS node groups of a preview, before and after, with the instance type that their launch template may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catalog.facts import UnknownFactError
from catalog.instance_types import InstanceType, instance_type
from report.changes import Change
from report.redaction import UNKNOWN

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
Side = Literal["old", "new"]

# EC2's families with GPUs: p4d, p5en, p6-b200, g5, g6e, gr6.
_GPU_FAMILY = re.compile(r"(p|g|gr)\d[a-z0-9-]*\.")

_MOST_NODES = 1_000_000
"""More than any account may have: a larger number is somebody's joke."""


@dataclass(frozen=True)
class NodeGroup:
    """One node group on one side of a change. Sizes in nodes; None where a preview doesn't know yet."""

    change: Change
    instance_types: tuple[str, ...]
    capacity_type: str
    desired: int | None
    largest: int | None

    @property
    def known_type(self) -> InstanceType | None:
        """The catalog's entry, where the group has one type and the catalog has it."""
        if len(self.instance_types) != 1:
            return None
        try:
            return instance_type(self.instance_types[0])
        except UnknownFactError:
            return None

    @property
    def may_have_gpus(self) -> bool:
        """False only where every type is known to have none: what isn't known is taken for GPUs."""
        return not self.instance_types or any(has_gpus(name) for name in self.instance_types)


def has_gpus(name: str) -> bool:
    """Whether an instance type has GPUs: the catalog knows, else its family's name tells."""
    try:
        return instance_type(name).gpus > 0
    except UnknownFactError:
        return _GPU_FAMILY.match(name) is not None


def node_groups(changes: Iterable[Change], side: Side) -> dict[str, NodeGroup]:
    """Every node group that there is on this side, by URN."""
    changes = tuple(changes)
    templates = [change for change in changes if change.type == LAUNCH_TEMPLATE]
    groups = (change for change in changes if change.type == NODE_GROUP)
    return {group.urn: _read(group, templates, side) for group in groups if _body(group, side)}


def template_types(template: Change) -> set[str]:
    """The instance types that a launch template names, before and after."""
    named = (template.old.get("instanceType"), template.new.get("instanceType"))
    return {name for name in named if isinstance(name, str) and name not in UNKNOWN}


def _body(change: Change, side: Side) -> Mapping[str, Any]:
    return change.old if side == "old" else change.new


def _read(group: Change, templates: list[Change], side: Side) -> NodeGroup:
    body = _body(group, side)
    sizes = body.get("scalingConfig")
    sizes = sizes if isinstance(sizes, dict) else {}
    own = body.get("instanceTypes")
    names = own if isinstance(own, list) and own else [_template_type(group, templates, side)]
    capacity = body.get("capacityType")
    return NodeGroup(
        group,
        tuple(name for name in names if isinstance(name, str) and name not in UNKNOWN),
        capacity if isinstance(capacity, str) else "ON_DEMAND",
        nodes(sizes.get("desiredSize")),
        nodes(sizes.get("maxSize")),
    )


def nodes(value: Any) -> int | None:
    """A size in nodes; None where it isn't known."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value <= _MOST_NODES else None


def _template_type(group: Change, templates: list[Change], side: Side) -> Any:
    """The instance type of the group's template: found by id, by name, else (a new one has no id yet) as a sibling."""
    reference = _body(group, side).get("launchTemplate")
    reference = reference if isinstance(reference, dict) else {}
    for template in templates:
        body = _body(template, side)
        if (template.old_id and reference.get("id") == template.old_id) or (
            reference.get("name") and reference.get("name") == body.get("name")
        ):
            return body.get("instanceType")
    siblings = [template for template in templates if template.parent == group.parent and _body(template, side)]
    named_alike = [template for template in siblings if template.name == group.name]
    found = named_alike or siblings
    return _body(found[0], side).get("instanceType") if len(found) == 1 else None
