"""A group on reserved capacity must end old nodes before it starts new ones: there is nothing to start new ones on."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.launch_templates import reservation
from policies.aws.node_groups import NODE_GROUP, launch_template, uses_capacity_block
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import text


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge groups on a capacity block or on an on-demand reservation."""
    template = launch_template(resource, resources)
    block = uses_capacity_block(resource, template)
    if not block and (template is None or reservation(template) is None):
        return
    strategy = text(resource.at("updateConfig", "updateStrategy")) or "DEFAULT"
    if strategy == "MINIMAL":
        return
    kind = "a capacity block" if block else "a capacity reservation"
    report = violation if block else advice  # a reservation may hold more machines than the group's maximum
    yield report(
        f"the {strategy} strategy starts new nodes before it ends old ones, and {kind} has a fixed number of "
        "machines: an upgrade hangs: set updateConfig.updateStrategy to MINIMAL",
        "updateConfig",
    )


RULE = Rule(
    name="nodegroup-update-strategy",
    title="A group on fixed capacity updates without spare nodes",
    source="containers-roadmap #2204, #2647; EKS API, NodegroupUpdateConfig.updateStrategy",
    fix="Set updateConfig.updateStrategy to MINIMAL.",
    applies_to=(NODE_GROUP,),
    check=check,
    scope="set",
)
