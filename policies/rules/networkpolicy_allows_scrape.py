"""Where a NetworkPolicy isolates model servers, one must let Prometheus reach the metrics port."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from policies.label_selectors import selects
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.monitors import VllmPod, monitors_of, vllm_among
from policies.network_policies import (
    NAMESPACE_NAME,
    NETWORK_POLICY,
    isolated_pods,
    isolates,
    namespace_names,
    opens_port,
    policies_of,
)
from policies.prometheus import operator_run
from policies.scalers import SCALED_OBJECT, scalers_of, triggers, vllm_selectors
from policies.unknowns import mapping, mappings, sequence, text, whole

_MONITORING_NAME = re.compile(r"monitor|prometheus|observ|metric|telemetry|o11y|victoria|grafana|mimir|thanos")
# Namespaces of gateways and of model servers: Prometheus lives elsewhere.
_OTHER_NAME = re.compile(
    r"gateway|ingress|istio|envoy|kgateway|nginx|traefik|kourier|llm|inference|model|serving|keda|ray"
)
_ADDRESS = re.compile(r"https?://[^./:]*prometheus[^./:]*\.([a-z0-9-]+)")
_DEFAULT_PORT = 8000  # vllm serve --port
_EVERYBODY: Mapping[str, Any] = {"namespaceSelector": {}}

Answer = Literal["yes", "no", "maybe"]


def _prometheus_namespaces(vllm: VllmPod, resources: ResourceSet) -> set[str]:
    """Where Prometheus lives, as far as scalers' addresses, the context and installs tell."""
    found = {prometheus.namespace for prometheus in operator_run(resources) if prometheus.namespace}
    for scaler in scalers_of(vllm.pod.resource, resources):
        for trigger in triggers(scaler) if scaler.group_kind == SCALED_OBJECT else ():
            match = _ADDRESS.match(text(trigger.metadata.get("serverAddress")) or "")
            found |= {match[1]} if match else set()
    return found


def _is_scraped(vllm: VllmPod, resources: ResourceSet) -> bool:
    if monitors_of(vllm.pod, resources):
        return True
    scalers = [item for item in scalers_of(vllm.pod.resource, resources) if item.group_kind == SCALED_OBJECT]
    return any(vllm_selectors(trigger) for scaler in scalers for trigger in triggers(scaler))


def _may_come(peer: Mapping[str, Any], own: str, prometheus: set[str], resources: ResourceSet) -> Answer:
    """Whether a peer of an ingress rule takes Prometheus in."""
    if "ipBlock" in peer:
        return "maybe"
    narrowed = bool(mapping(peer.get("podSelector")))
    yes: Answer = "maybe" if narrowed else "yes"
    if "namespaceSelector" not in peer:
        return yes if own in prometheus else "no"
    selector = mapping(peer["namespaceSelector"])
    if not selector:
        return yes
    names = namespace_names(selector)
    if names is not None:
        if prometheus:
            return yes if names & prometheus else "no"
        if any(_MONITORING_NAME.search(name) for name in names):
            return yes
        return "no" if all(name == own or _OTHER_NAME.search(name) for name in names) else "maybe"
    known = [item for item in resources.of("Namespace") if item.name in prometheus]
    if known:
        return yes if any(selects(selector, item.labels) for item in known) else "no"
    return "maybe"


def _ways_in(vllm: VllmPod, prometheus: set[str], resources: ResourceSet) -> Iterator[tuple[Answer, bool]]:
    """For each peer of each ingress rule: whether it takes Prometheus in, and whether it opens the metrics port."""
    port, names = _port(vllm)
    for policy in policies_of(vllm.pod, resources):
        if not isolates(policy, "ingress"):
            continue
        for rule in mappings(policy.at("spec", "ingress")):
            peers = mappings(rule.get("from")) if sequence(rule.get("from")) else [_EVERYBODY]
            is_open = opens_port(rule, port, names, "TCP")
            for peer in peers:
                yield _may_come(peer, vllm.pod.resource.namespace, prometheus, resources), is_open


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge each policy that isolates a scraped server; what one policy opens, another need not."""
    if not isolates(resource, "ingress"):
        return
    for vllm in vllm_among(isolated_pods(resource, resources), resources):
        if not _is_scraped(vllm, resources):
            continue
        prometheus = _prometheus_namespaces(vllm, resources)
        ways = list(_ways_in(vllm, prometheus, resources))
        if any(answer != "no" and is_open for answer, is_open in ways):
            continue
        where = f"the namespace {sorted(prometheus)[0]}" if prometheus else "the namespace of Prometheus"
        port, _ = _port(vllm)
        only_port = any(answer == "yes" for answer, _ in ways)
        why = f"{where} is admitted, but not to port {port}" if only_port else f"no ingress rule admits {where}"
        yield violation(
            f"it isolates the pods of {vllm.pod.resource.label}, whose metrics are scraped, and {why}: add an "
            "ingress rule "
            f"from {where} (namespaceSelector {NAMESPACE_NAME}) to port {port}",
            "spec",
            "ingress",
        )
        return


def _port(vllm: VllmPod) -> tuple[int, set[str]]:
    """The port of the metrics page (the API's own), and its names."""
    port = vllm.server.whole("port", _DEFAULT_PORT)
    rows = mappings(vllm.server.container.body.get("ports"))
    return port, {text(row.get("name")) or "" for row in rows if whole(row.get("containerPort")) == port}


RULE = Rule(
    name="networkpolicy-allows-scrape",
    title="Network policies let Prometheus scrape",
    source="openrag #979; kserve #1904 (opendatahub-io)",
    fix="Add an ingress rule from Prometheus' namespace to the metrics port.",
    applies_to=(NETWORK_POLICY,),
    check=check,
    scope="set",
)
