"""Kubernetes NetworkPolicies: which pods they isolate, and which ports a rule opens."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from policies.model import Resource, ResourceSet
from policies.monitors import PodKey, pod_index, pod_key
from policies.unknowns import NotDecidedError, mappings, sequence, text, whole
from policies.workloads.pods import PodTemplate

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


def isolated_pods(policy: Resource, resources: ResourceSet) -> list[PodTemplate]:
    """The pods here that a policy is about. Raises NotDecidedError where that is not known yet."""
    return pod_index(resources).selected(policy.at("spec", "podSelector") or {}, [policy.namespace])


@lru_cache(maxsize=8)
def _policies_by_pod(resources: ResourceSet) -> dict[PodKey, list[Resource]]:
    found: dict[PodKey, list[Resource]] = {}
    for policy in resources.of(NETWORK_POLICY):
        try:
            for pod in isolated_pods(policy, resources):
                found.setdefault(pod_key(pod), []).append(policy)
        except NotDecidedError:
            continue
    return found


def policies_of(pod: PodTemplate, resources: ResourceSet) -> list[Resource]:
    """The policies that are about a template's pods: what one of them opens, another need not."""
    return _policies_by_pod(resources).get(pod_key(pod), [])


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
