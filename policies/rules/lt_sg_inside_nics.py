"""With network interfaces in a launch template, security groups belong inside each interface."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.launch_templates import LAUNCH_TEMPLATE, top_level_security_groups
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import sequence


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge templates that state both."""
    interfaces = sequence(resource.at("networkInterfaces"))
    if not interfaces:
        return
    if top_level_security_groups(resource):
        yield violation(
            f"the template states security groups at its top and {len(interfaces)} network interfaces, which EC2 "
            "refuses: move the groups into networkInterfaces[].securityGroups (the cluster's group on the primary "
            "interface, too)",
            "vpcSecurityGroupIds" if "vpcSecurityGroupIds" in resource.body else "securityGroupNames",
        )


RULE = Rule(
    name="lt-sg-inside-nics",
    title="Security groups stand inside the network interfaces",
    source="terraform-aws-eks #1880, #1911, #2168; EC2 API, RequestLaunchTemplateData",
    fix="Move vpcSecurityGroupIds into the securityGroups of each network interface.",
    applies_to=(LAUNCH_TEMPLATE,),
    check=check,
)
