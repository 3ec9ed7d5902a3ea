"""A monitor must name a port that the selected pods (or Services) declare; else its list of targets is empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, violation
from policies.monitors import (
    MONITORS,
    POD_MONITOR,
    VllmPod,
    endpoints,
    selected_pods,
    selected_services,
    vllm_among,
)
from policies.unknowns import mappings, text, whole


def _container_ports(vllm: VllmPod) -> list[dict[str, Any]]:
    """Ports of all containers, of sidecars too: a monitor may scrape an exporter beside the server."""
    containers = [*vllm.pod.containers, *vllm.pod.init_containers]
    return [port for container in containers for port in mappings(container.body.get("ports"))]


def _names(ports: list[dict[str, Any]]) -> list[str]:
    return [name for port in ports if (name := text(port.get("name")))]


def _target_exists(target: Any, ports: list[dict[str, Any]]) -> bool:
    number = whole(target)
    if number is not None:
        return any(whole(port.get("containerPort")) == number for port in ports)
    return text(target) in _names(ports)


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge each endpoint against the vLLM pods that the monitor selects."""
    selected = vllm_among(selected_pods(resource, resources), resources)
    if not selected:
        return
    for endpoint, path in endpoints(resource):
        if resource.group_kind == POD_MONITOR:
            yield from _pod_endpoint(endpoint, path, selected)
        else:
            yield from _service_endpoint(endpoint, path, resource, selected, resources)


def _pod_endpoint(endpoint: dict[str, Any], path: Path, selected: list[VllmPod]) -> Iterator[Outcome]:
    ports = [port for vllm in selected for port in _container_ports(vllm)]
    declared = ", ".join(sorted(set(_names(ports)))) or "none with a name"
    owner = selected[0].pod.resource.label
    port = endpoint.get("port")
    if port is not None:
        name = text(port) or ""
        if not isinstance(port, str) or name.isdigit():
            yield violation(
                f"port {name} is a number, and a PodMonitor's port is a name: write the container port's name "
                f"({declared}), or portNumber: {name}",
                *path,
                "port",
            )
        elif name not in _names(ports):
            yield violation(
                f"no container of {owner} declares a port called {name!r}, so there is no target: its ports are "
                f"{declared}",
                *path,
                "port",
            )
        return
    target = endpoint.get("portNumber", endpoint.get("targetPort"))
    # Prometheus finds a pod's port by its declaration only, also by number.
    if target is not None and not _target_exists(target, ports):
        yield violation(f"no container of {owner} declares the port {text(target)}: its ports are {declared}", *path)
    elif target is None:
        yield violation(f"the endpoint names no port: write port: with one of {owner}'s names ({declared})", *path)


def _service_endpoint(
    endpoint: dict[str, Any], path: Path, monitor: Resource, selected: list[VllmPod], resources: ResourceSet
) -> Iterator[Outcome]:
    services = selected_services(monitor, resources)
    ports = [port for service in services for port in mappings(service.at("spec", "ports"))]
    names = _names(ports)
    wanted = endpoint.get("port")
    if wanted is not None and text(wanted) not in names:
        yield violation(
            f"{services[0].label} has no port called {text(wanted)!r}, so there is no target: its ports are "
            f"{', '.join(sorted(set(names))) or 'without a name'}",
            *path,
            "port",
        )
    target = endpoint.get("targetPort")
    pod_ports = [port for vllm in selected for port in _container_ports(vllm)]
    if wanted is None and target is not None and not _target_exists(target, pod_ports):
        yield violation(f"no container of {selected[0].pod.resource.label} declares the port {text(target)}", *path)


RULE = Rule(
    name="podmonitor-port-exists",
    title="The monitor names a port that exists",
    source="prometheus-operator, PodMetricsEndpoint; kube-prometheus #1392",
    fix="Name the container's port in podMetricsEndpoints[].port (a Service's port in a ServiceMonitor).",
    applies_to=MONITORS,
    check=check,
    scope="set",
)
