"""Kubernetes NetworkPolicies: which pods they isolate, and which ports a rule opens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from policies.model import Resource
from policies.unknowns import mappings, sequence, text, whole

NETWORK_POLICY = "NetworkPolicy.networking.k8s.io"
Direction = Literal["ingress", "egress"]
# Every namespace carries its name under this label (Kubernetes 1.22 and later).
NAMESPACE_NAME = "kubernetes.io/metadata.name"


def isolates(policy: Resource, direction: Direction) -> bool:
    """Whether a policy cuts a direction; without ``policyTypes`` ingress, and egress where it has egress rules."""
    types = policy.at("spec", "policyTypes")
    if types is None:
        return direction == "ingress" or bool(sequence(policy.at("spec", "egress")))
    return direction in {(text(item) or "").lower() for item in sequence(types)}


def opens_port(rule: Mapping[str, Any], port: int, names: set[str], protocol: str) -> bool:
    """Whether a rule opens ``port``, also by one of its names or inside a range; a rule without ports opens all."""
    ports = sequence(rule.get("ports"))
    return not ports or any(_is_port(entry, port, names, protocol) for entry in mappings(ports))


def _is_port(entry: Mapping[str, Any], port: int, names: set[str], protocol: str) -> bool:
    if (text(entry.get("protocol")) or "TCP").upper() != protocol:
        return False
    written = entry.get("port")
    if written is None:
        return True
    first = whole(written)
    if first is None:
        return text(written) in names
    last = whole(entry.get("endPort"))
    return first <= port <= (first if last is None else last)


def namespace_names(selector: Mapping[str, Any]) -> set[str] | None:
    """The namespaces that a selector takes by their names; None where it selects by something else."""
    labels = selector.get("matchLabels")
    expressions = mappings(selector.get("matchExpressions"))
    if isinstance(labels, dict) and NAMESPACE_NAME in labels:
        return {text(labels[NAMESPACE_NAME]) or ""}
    for expression in expressions:
        if text(expression.get("key")) == NAMESPACE_NAME and text(expression.get("operator")) == "In":
            return {text(value) or "" for value in sequence(expression.get("values"))}
    return None
