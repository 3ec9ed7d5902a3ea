"""Where NetworkPolicies restrict egress of model servers, one must open DNS: peers and hubs are found by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policies.label_selectors import equal_labels
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.monitors import VllmPod, vllm_among
from policies.network_policies import (
    NETWORK_POLICY,
    isolated_pods,
    isolates,
    namespace_names,
    opens_port,
    policies_of,
)
from policies.unknowns import mapping, mappings, sequence
from policies.workloads.pods import LEADER_WORKER_SET, RAY_KINDS

_DNS_PORT = 53
_DNS_NAMES = {"dns", "dns-udp", "domain"}
_DNS_NAMESPACE = "kube-system"
# Labels of controllers whose pods find each other by name.
_GROUP_LABELS = ("ray.io/", "leaderworkerset.sigs.k8s.io/")
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


def _allows_dns(policy: Resource) -> bool:
    for rule in mappings(policy.at("spec", "egress")):
        if not opens_port(rule, _DNS_PORT, _DNS_NAMES, "UDP"):
            continue
        peers = sequence(rule.get("to"))
        if not peers or any(_may_be_dns(peer, policy.namespace) for peer in mappings(peers)):
            return True
    return False


def _may_be_dns(peer: Mapping[str, Any], own: str) -> bool:
    if "ipBlock" in peer:
        return True  # the address of the cluster's DNS, or of the node's cache
    if "namespaceSelector" not in peer:
        return own == _DNS_NAMESPACE
    names = namespace_names(mapping(peer["namespaceSelector"]))
    return names is None or _DNS_NAMESPACE in names


def _needs_names(vllm: VllmPod) -> bool:
    """Whether a server must resolve a name: of its peers, or of the hub that it downloads from."""
    if vllm.server.spans_nodes:
        return True
    offline = any(vllm.server.environment.get(name) in ("1", "true", "TRUE") for name in _OFFLINE)
    return not offline and not (vllm.server.model or "/").startswith(("/", "."))


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge policies that restrict egress of servers here, or of pods of a Ray cluster or LeaderWorkerSet by label."""
    if not isolates(resource, "egress"):
        return
    selected = isolated_pods(resource, resources)
    servers = vllm_among(selected, resources)
    # Members of Ray clusters and LeaderWorkerSets find each other by name.
    groups = [pod for pod in selected if pod.resource.group_kind in (LEADER_WORKER_SET, *RAY_KINDS)]
    labels = mapping(mapping(resource.at("spec", "podSelector")).get("matchLabels"))
    by_label = any(key.startswith(_GROUP_LABELS) for key in labels)
    pods = [vllm.pod for vllm in servers] + groups
    if pods:
        cut = [pod for pod in pods if not any(_allows_dns(policy) for policy in policies_of(pod, resources))]
        if not cut:
            return
        who = f"the pods of {cut[0].resource.label}"
        certain = by_label or any(pod in cut for pod in groups) or any(_needs_names(v) for v in servers if v.pod in cut)
    elif by_label:
        same_place = [policy for policy in resources.of(NETWORK_POLICY) if policy.namespace == resource.namespace]
        if any(_allows_dns(policy) for policy in same_place if _is_wider(policy, labels)):
            return
        who, certain = "the pods of the group", True
    else:
        return
    report = violation if certain else advice
    yield report(
        f"it restricts egress of {who}, and no egress rule opens UDP 53 to kube-dns, so no name is found: add a rule "
        "to the namespace kube-system with port 53 for UDP and TCP",
        "spec",
        "egress",
    )


def _is_wider(policy: Resource, labels: Mapping[str, Any]) -> bool:
    """Whether a policy selects at least the pods with these labels."""
    selector = mapping(policy.at("spec", "podSelector"))
    return not mappings(selector.get("matchExpressions")) and equal_labels(selector.get("matchLabels"), labels)


RULE = Rule(
    name="networkpolicy-allows-dns",
    title="Network policies let servers resolve names",
    source="kuberay #4638",
    fix="Add an egress rule to kube-system with port 53 for UDP and TCP.",
    applies_to=(NETWORK_POLICY,),
    check=check,
    scope="set",
)
