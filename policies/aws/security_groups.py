"""Facts of EC2 security groups, with rules inside the group and in resources of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from policies.aws.launch_templates import LAUNCH_TEMPLATE, is_efa
from policies.model import Resource, ResourceSet
from policies.unknowns import NotDecidedError, is_unknown, mapping, mappings, sequence, text

SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
_CLASSIC_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
_VPC_RULES = {
    "ingress": "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "egress": "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
}
_ALL_PROTOCOLS = {"-1", "all"}
_EFA_WORD = re.compile(r"(?<![a-z])efa(?![a-z])", re.IGNORECASE)

Direction = Literal["ingress", "egress"]


def _names(group: Resource) -> set[str]:
    """Every text that may point at the group: its Pulumi name, EC2 name, id and URN."""
    own = [group.name, group.id, group.urn]
    own += [text(group.at(key)) or "" for key in ("name", "id") if not is_unknown(group.at(key))]
    return {name for name in own if name} | {f"sg-{group.name}"}


def _points_at(reference: Any, group: Resource, resources: ResourceSet) -> bool | None:
    """Whether a property means this group; None where it isn't known and another group could be meant."""
    if is_unknown(reference):
        return True if len(list(resources.of(SECURITY_GROUP))) == 1 else None
    return text(reference) in _names(group)


def is_efa_group(group: Resource, resources: ResourceSet) -> bool:
    """Whether a security group is meant for EFA traffic: it stands on an EFA interface, or its name or tags say efa."""
    named: list[Any] = [group.name, group.at("name"), group.at("namePrefix")]
    tags = group.at("tags")
    named += [] if is_unknown(tags) else mapping(tags).values()
    if any(not is_unknown(name) and _EFA_WORD.search(text(name) or "") for name in named):
        return True
    names = _names(group)
    for template in resources.of(LAUNCH_TEMPLATE):
        try:
            interfaces = [interface for interface in mappings(template.at("networkInterfaces")) if is_efa(interface)]
            groups = [item for interface in interfaces for item in sequence(interface.get("securityGroups"))]
        except NotDecidedError:
            continue
        if any(not is_unknown(item) and text(item) in names for item in groups):
            # An interface may carry other groups beside: one of them that allows itself is enough.
            return not _another_allows_itself(groups, group, resources)
    return False


def _another_allows_itself(references: list[Any], group: Resource, resources: ResourceSet) -> bool:
    known = {text(reference) for reference in references if not is_unknown(reference)}
    return any(
        bool(allows_itself(other, resources, "ingress") and allows_itself(other, resources, "egress"))
        for other in resources.of(SECURITY_GROUP)
        if other is not group and known & _names(other)
    )


def allows_itself(group: Resource, resources: ResourceSet, direction: Direction) -> bool | None:
    """Whether a group lets all protocols through between its own members; None where that is not known yet."""
    answers = [
        *_inline(group, direction),
        *_classic(group, resources, direction),
        *_separate(group, resources, direction),
    ]
    if True in answers:
        return True
    return None if None in answers else False


def _inline(group: Resource, direction: Direction) -> Iterator[bool | None]:
    rules = group.at(direction)
    if is_unknown(rules):
        yield None
        return
    for rule in mappings(rules):
        if text(rule.get("protocol")) in _ALL_PROTOCOLS:
            own = rule.get("self")
            yield None if is_unknown(own) else text(own) == "true"
            for reference in sequence(rule.get("securityGroups")):
                yield None if is_unknown(reference) else text(reference) in _names(group)


def _classic(group: Resource, resources: ResourceSet, direction: Direction) -> Iterator[bool | None]:
    for rule in resources.of(_CLASSIC_RULE):
        if text(rule.at("type")) != direction or text(rule.at("protocol")) not in _ALL_PROTOCOLS:
            continue
        owner = _points_at(rule.at("securityGroupId"), group, resources)
        if owner is False:
            continue
        source = rule.at("sourceSecurityGroupId")
        if text(rule.at("self")) == "true":
            yield owner
        elif source is not None:
            peer = _points_at(source, group, resources)
            yield False if peer is False else (True if owner and peer else None)


def _separate(group: Resource, resources: ResourceSet, direction: Direction) -> Iterator[bool | None]:
    for rule in resources.of(_VPC_RULES[direction]):
        reference = rule.at("referencedSecurityGroupId")
        if reference is None or text(rule.at("ipProtocol")) not in _ALL_PROTOCOLS:
            continue
        owner = _points_at(rule.at("securityGroupId"), group, resources)
        peer = _points_at(reference, group, resources)
        if owner is not False and peer is not False:
            yield True if owner and peer else None
