"""PodMonitors and ServiceMonitors: which pods they select, and which vLLM servers those pods run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policies.label_selectors import LabelIndex, pod_labels
from policies.model import Path, Resource, ResourceSet
from policies.unknowns import NotDecidedError, mapping, mappings, sequence, text
from policies.workloads.pods import POD_OWNERS, PodTemplate, pod_templates
from policies.workloads.servers import VllmServer, servers_in

POD_MONITOR = "PodMonitor.monitoring.coreos.com"
SERVICE_MONITOR = "ServiceMonitor.monitoring.coreos.com"
MONITORS = (POD_MONITOR, SERVICE_MONITOR)
SERVICE = "Service"
PodKey = tuple[int, Path]


@dataclass(frozen=True)
class VllmPod:
    """A pod template with the vLLM server that answers requests in it."""

    pod: PodTemplate
    server: VllmServer


def pod_key(pod: PodTemplate) -> PodKey:
    """What tells a template from all others: its object, and where it stands in it."""
    return id(pod.resource), pod.path


@lru_cache(maxsize=8)
def _vllm_pods(resources: ResourceSet) -> dict[PodKey, VllmPod]:
    found = {}
    for owner in resources.of(*POD_OWNERS):
        try:
            for pod in pod_templates(owner):
                # A headless follower has no metrics page.
                for server in servers_in(pod)[:1]:
                    if not server.is_headless:
                        found[pod_key(pod)] = VllmPod(pod, server)
        except NotDecidedError:
            continue
    return found


def vllm_pods_of(workload: Resource, resources: ResourceSet) -> list[VllmPod]:
    """Those of one workload."""
    return vllm_among(pod_templates(workload), resources)


def vllm_among(pods: Iterable[PodTemplate], resources: ResourceSet) -> list[VllmPod]:
    """Those of some templates that run a vLLM server with an API."""
    known = _vllm_pods(resources)
    return [known[key] for pod in pods if (key := pod_key(pod)) in known]


@lru_cache(maxsize=8)
def pod_index(resources: ResourceSet) -> LabelIndex[PodTemplate]:
    """Every pod template by its labels; objects whose template is not known yet are left out."""
    pods: list[PodTemplate] = []
    labels = []
    for owner in resources.of(*POD_OWNERS):
        try:
            for pod in pod_templates(owner):
                labels.append(pod_labels(pod))
                pods.append(pod)
        except NotDecidedError:
            continue
    entries = zip(labels, pods, strict=True)
    return LabelIndex((pod.resource.namespace, of_pod, pod) for of_pod, pod in entries)


@lru_cache(maxsize=8)
def _service_index(resources: ResourceSet) -> LabelIndex[Resource]:
    entries = []
    for service in resources.of(SERVICE):
        try:
            entries.append((service.namespace, service.labels, service))
        except NotDecidedError:
            continue
    return LabelIndex(entries)


@lru_cache(maxsize=8)
def _services(resources: ResourceSet) -> dict[tuple[str, str], Resource]:
    return {(service.namespace, service.name): service for service in resources.of(SERVICE)}


def service_named(name: str, namespace: str, resources: ResourceSet) -> Resource | None:
    """The Service of that name, or None where it isn't here."""
    return _services(resources).get((namespace, name))


def pods_behind(service: Resource, resources: ResourceSet) -> list[PodTemplate]:
    """The pods that a Service leads to; none for a Service without a selector.

    Raises:
        NotDecidedError: selector or labels are not known yet.
    """
    selector = mapping(service.at("spec", "selector"))
    return pod_index(resources).selected({"matchLabels": selector}, [service.namespace]) if selector else []


def selected_services(monitor: Resource, resources: ResourceSet) -> list[Resource]:
    """The Services that a ServiceMonitor selects. Raises NotDecidedError where that is not known yet."""
    return _service_index(resources).selected(monitor.at("spec", "selector"), _watched(monitor))


def selected_pods(monitor: Resource, resources: ResourceSet) -> list[PodTemplate]:
    """The pods that a monitor makes targets of. Raises NotDecidedError where that is not known yet."""
    if monitor.group_kind == POD_MONITOR:
        return pod_index(resources).selected(monitor.at("spec", "selector"), _watched(monitor))
    return [pod for service in selected_services(monitor, resources) for pod in pods_behind(service, resources)]


def _watched(monitor: Resource) -> list[str] | None:
    """The namespaces that a monitor looks into (None: all); only its own where it does not say."""
    selector = mapping(monitor.at("spec", "namespaceSelector"))
    if text(selector.get("any")) == "true":
        return None
    names = {text(name) or "" for name in sequence(selector.get("matchNames"))}
    return sorted(names) or [monitor.namespace]


@lru_cache(maxsize=8)
def _monitors_by_pod(resources: ResourceSet) -> tuple[dict[PodKey, list[Resource]], NotDecidedError | None]:
    found: dict[PodKey, list[Resource]] = {}
    undecided = None
    for monitor in resources.of(*MONITORS):
        try:
            for key in {pod_key(pod) for pod in selected_pods(monitor, resources)}:
                found.setdefault(key, []).append(monitor)
        except NotDecidedError as error:
            undecided = error
    return found, undecided


def monitors_of(pod: PodTemplate, resources: ResourceSet) -> list[Resource]:
    """The monitors that make targets of a template's pods.

    Raises:
        NotDecidedError: none does, and of one it is not known yet.
    """
    found, undecided = _monitors_by_pod(resources)
    mine = found.get(pod_key(pod), [])
    if undecided and not mine:
        raise NotDecidedError(str(undecided))
    return mine


def endpoints(monitor: Resource) -> list[tuple[dict[str, Any], Path]]:
    """A monitor's endpoints with their paths."""
    key = "podMetricsEndpoints" if monitor.group_kind == POD_MONITOR else "endpoints"
    rows = mappings(monitor.at("spec", key))
    return [(row, ("spec", key, index)) for index, row in enumerate(rows)]
