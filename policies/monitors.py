"""PodMonitors and ServiceMonitors: which pods they select, and which vLLM servers those pods run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policies.label_selectors import equal_labels, pod_labels, selects
from policies.model import Path, Resource, ResourceSet
from policies.unknowns import NotDecidedError, mapping, mappings, sequence, text
from policies.workloads.pods import POD_OWNERS, PodTemplate, pod_templates
from policies.workloads.servers import VllmServer, servers_in

POD_MONITOR = "PodMonitor.monitoring.coreos.com"
SERVICE_MONITOR = "ServiceMonitor.monitoring.coreos.com"
MONITORS = (POD_MONITOR, SERVICE_MONITOR)
SERVICE = "Service"


@dataclass(frozen=True)
class VllmPod:
    """A pod template with the vLLM server that answers requests in it."""

    pod: PodTemplate
    server: VllmServer


@lru_cache(maxsize=8)
def vllm_pods(resources: ResourceSet) -> tuple[VllmPod, ...]:
    """The pod templates that run a vLLM server with an API (a headless follower has no metrics page)."""
    found = []
    for owner in resources.of(*POD_OWNERS):
        try:
            for pod in pod_templates(owner):
                found += [VllmPod(pod, server) for server in servers_in(pod)[:1] if not server.is_headless]
        except NotDecidedError:
            continue
    return tuple(found)


def watches_namespace(monitor: Resource, namespace: str) -> bool:
    """Whether a monitor looks into a namespace; only its own where it does not say."""
    selector = mapping(monitor.at("spec", "namespaceSelector"))
    if text(selector.get("any")) == "true":
        return True
    names = {text(name) for name in sequence(selector.get("matchNames"))}
    return namespace in (names or {monitor.namespace})


def selects_pod(monitor: Resource, pod: PodTemplate, resources: ResourceSet) -> bool:
    """Whether a monitor makes targets of a template's pods.

    Raises:
        NotDecidedError: selector or labels are not known yet.
    """
    if not watches_namespace(monitor, pod.resource.namespace):
        return False
    if monitor.group_kind == POD_MONITOR:
        return selects(monitor.at("spec", "selector"), pod_labels(pod))
    return any(True for _ in services_between(monitor, pod, resources))


def services_between(monitor: Resource, pod: PodTemplate, resources: ResourceSet) -> Iterator[Resource]:
    """The Services that a ServiceMonitor selects and that lead to a template's pods."""
    for service in services_of(pod, resources):
        if selects(monitor.at("spec", "selector"), service.labels):
            yield service


def services_of(pod: PodTemplate, resources: ResourceSet) -> Iterator[Resource]:
    """The Services that lead to a template's pods."""
    labels = pod_labels(pod)
    for service in resources.of(SERVICE):
        selector = mapping(service.at("spec", "selector"))
        if selector and service.namespace == pod.resource.namespace and equal_labels(selector, labels):
            yield service


def monitors_of(pod: PodTemplate, resources: ResourceSet) -> list[Resource]:
    """The monitors that make targets of a template's pods."""
    return [monitor for monitor in resources.of(*MONITORS) if selects_pod(monitor, pod, resources)]


def endpoints(monitor: Resource) -> list[tuple[dict[str, Any], Path]]:
    """A monitor's endpoints with their paths."""
    key = "podMetricsEndpoints" if monitor.group_kind == POD_MONITOR else "endpoints"
    rows = mappings(monitor.at("spec", key))
    return [(row, ("spec", key, index)) for index, row in enumerate(rows)]
