"""Nodes must answer metadata requests with a session token only (IMDSv2).

Without it, one forged request out of a pod yields the node's role.
"""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.launch_templates import LAUNCH_TEMPLATE
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import mapping, text


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge launch templates: said otherwise is a violation, not said is advice (the account may default to it)."""
    options = mapping(resource.at("metadataOptions"))
    if text(options.get("httpEndpoint")) == "disabled":
        return
    tokens = text(options.get("httpTokens"))
    if tokens == "required":
        return
    report = violation if tokens else advice
    yield report(
        f"metadataOptions.httpTokens is {tokens or 'not set'}, so the metadata service may answer without a token: "
        "set it to required",
        "metadataOptions",
    )


RULE = Rule(
    name="imdsv2-required",
    title="Nodes require IMDSv2",
    source="EC2 user guide, Configure the Instance Metadata Service; CVE-2025-6242 (request forgery in vLLM's media "
    "fetching)",
    fix="Set metadataOptions.httpTokens to required in the launch template.",
    applies_to=(LAUNCH_TEMPLATE,),
    check=check,
)
