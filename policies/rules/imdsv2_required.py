"""Nodes must answer metadata requests with a session token only (IMDSv2).

Without it, one forged request out of a pod yields the node's role.
"""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.launch_templates import LAUNCH_TEMPLATE
from policies.karpenter import NODE_CLASS
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import mapping, text


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge where nodes are declared: said otherwise is a violation, not said is advice (accounts have a default)."""
    path: Path = ("metadataOptions",) if resource.type == LAUNCH_TEMPLATE else ("spec", "metadataOptions")
    options = mapping(resource.at(*path))
    if text(options.get("httpEndpoint")) == "disabled":
        return
    tokens = text(options.get("httpTokens"))
    if tokens == "required" or (tokens is None and resource.group_kind == NODE_CLASS):  # Karpenter's default
        return
    report = violation if tokens else advice
    yield report(
        f"metadataOptions.httpTokens is {tokens or 'not set'}, so the metadata service may answer without a token: "
        "set it "
        "to required",
        *path,
    )


RULE = Rule(
    name="imdsv2-required",
    title="Nodes require IMDSv2",
    source="EC2 user guide, Configure the Instance Metadata Service; CVE-2025-6242 (request forgery in vLLM's media "
    "fetching)",
    fix="Set metadataOptions.httpTokens to required in the launch template.",
    applies_to=(LAUNCH_TEMPLATE, NODE_CLASS),
    check=check,
)
