"""Routes to model servers: which backends are vLLM, which policy is attached to what, and whose gateway it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from policies.model import Resource, ResourceSet
from policies.monitors import SERVICE, pods_behind, vllm_among
from policies.unknowns import NotDecidedError, mapping, mappings, text, whole

HTTP_ROUTE = "HTTPRoute.gateway.networking.k8s.io"
AI_ROUTE = "AIGatewayRoute.aigateway.envoyproxy.io"
VIRTUAL_SERVICE = "VirtualService.networking.istio.io"
TRAFFIC_POLICY = "BackendTrafficPolicy.gateway.envoyproxy.io"
_GATEWAY = "Gateway.gateway.networking.k8s.io"
_GATEWAY_CLASS = "GatewayClass.gateway.networking.k8s.io"
_MODEL_BACKENDS = {"InferencePool", "AIServiceBackend"}
_OPENAI_PATH = "/v1"
_VLLM_PORT = 8000  # vllm serve --port

Backend = Literal["vllm", "other", "likely", "unknown"]
"""``likely``: the workload isn't here, and path or port are those of an OpenAI-compatible server."""


def service_backend(name: str, namespace: str, resources: ResourceSet) -> Backend:
    """What a Service leads to, as far as Service and workloads are here."""
    service = resources.named(SERVICE, name, namespace)
    if service is None:
        return "unknown"
    pods = pods_behind(service, resources)
    if vllm_among(pods, resources):
        return "vllm"
    return "other" if pods else "unknown"


def rule_backend(rule: Mapping[str, Any], namespace: str, resources: ResourceSet) -> Backend:
    """What one rule of an HTTPRoute leads to: the model server where one of its backends is one."""
    answers: set[Backend] = set()
    for reference in mappings(rule.get("backendRefs")):
        if text(reference.get("kind")) in _MODEL_BACKENDS:
            answers.add("vllm")
            continue
        name, port = text(reference.get("name")) or "", whole(reference.get("port"))
        answer = service_backend(name, text(reference.get("namespace")) or namespace, resources)
        answers.add("likely" if answer == "unknown" and port == _VLLM_PORT else answer)
    return _strongest(answers, _matches_openai_path(rule))


def virtual_service_backend(rule: Mapping[str, Any], namespace: str, resources: ResourceSet) -> Backend:
    """What one ``http`` rule of an Istio VirtualService leads to."""
    answers: set[Backend] = set()
    for route in mappings(rule.get("route")):
        destination = mapping(route.get("destination"))
        name, _, rest = (text(destination.get("host")) or "").partition(".")
        answer = service_backend(name, rest.partition(".")[0] or namespace, resources)
        port = whole(mapping(destination.get("port")).get("number"))
        answers.add("likely" if answer == "unknown" and port == _VLLM_PORT else answer)
    uris = [mapping(match.get("uri")) for match in mappings(rule.get("match"))]
    openai = any((text(value) or "").startswith(_OPENAI_PATH) for uri in uris for value in uri.values())
    return _strongest(answers, openai)


def _strongest(answers: set[Backend], openai_path: bool) -> Backend:
    if "vllm" in answers or "likely" in answers:
        return "vllm" if "vllm" in answers else "likely"
    if "unknown" in answers or not answers:
        return "likely" if openai_path else "unknown"
    return "other"


def _matches_openai_path(rule: Mapping[str, Any]) -> bool:
    paths = [text(mapping(match.get("path")).get("value")) or "" for match in mappings(rule.get("matches"))]
    return any(path.startswith(_OPENAI_PATH) for path in paths)


def route_backend(route: Resource, resources: ResourceSet) -> Backend:
    """The strongest answer of a route's rules."""
    rules = mappings(route.at("spec", "rules"))
    return _strongest({rule_backend(rule, route.namespace, resources) for rule in rules}, openai_path=False)


def targets(policy: Resource) -> list[tuple[str, str, str]]:
    """What a policy is attached to: kind, name and section (empty for the whole)."""
    rows = mappings(policy.at("spec", "targetRefs"))
    single = mapping(policy.at("spec", "targetRef"))
    rows = [*rows, single] if single else rows
    return [
        (text(row.get("kind")) or "", text(row.get("name")) or "", text(row.get("sectionName")) or "") for row in rows
    ]


def policies_of(route: Resource, resources: ResourceSet) -> list[Resource]:
    """The traffic policies attached to a route or to one of its gateways."""
    parents = {
        (text(parent.get("name")) or "", text(parent.get("namespace")) or route.namespace)
        for parent in mappings(route.at("spec", "parentRefs"))
    }
    found = []
    for policy in resources.of(TRAFFIC_POLICY):
        for kind, name, _ in targets(policy):
            on_route = kind == route.kind and name == route.name and policy.namespace == route.namespace
            on_gateway = kind == "Gateway" and (name, policy.namespace) in parents
            if on_route or on_gateway:
                found.append(policy)
                break
    return found


def is_envoy_gateway(route: Resource, resources: ResourceSet) -> bool:
    """Whether Envoy Gateway surely serves a route: by the context, the gateway's class, or objects that only it has."""
    stated = str(resources.context.get("gateway") or "").lower()
    if stated:
        return "envoy" in stated and "istio" not in stated
    if any(resource.type.startswith("gateway.envoyproxy.io/") for resource in resources):
        return True
    for parent in mappings(route.at("spec", "parentRefs")):
        gateway = resources.named(
            _GATEWAY, text(parent.get("name")) or "", text(parent.get("namespace")) or route.namespace
        )
        if gateway is None:
            continue
        try:
            name = text(gateway.at("spec", "gatewayClassName")) or ""
            gateway_class = resources.named(_GATEWAY_CLASS, name)
            controller = text(gateway_class.at("spec", "controllerName")) if gateway_class else None
        except NotDecidedError:
            continue
        if "envoyproxy" in (controller or "") or (controller is None and name in ("eg", "envoy-gateway", "envoy")):
            return True
    return False
