"""Routes to model servers: which backends are vLLM, which policy is attached to what, and whose gateway it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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

Backend = Literal["vllm", "likely", "possible", "other"]
"""What a route leads to. Where the workload isn't here, path, port and name give hints: two make a model server likely,
one makes it possible, none makes it something else."""

_STRENGTH: tuple[Backend, ...] = ("vllm", "likely", "possible", "other")
_MODEL_NAME = re.compile(r"llm|llama|qwen|mi[sx]tral|deepseek|gemma|gpt|inference|model|chat|completion", re.IGNORECASE)
# Paths that only an OpenAI-compatible server has.
_OPENAI_CALL = re.compile(r"/v1/(chat/completions|completions|responses|embeddings)")


def strongest(answers: Iterable[Backend]) -> Backend:
    """The answer that says most; ``other`` for none at all."""
    return min(answers, key=_STRENGTH.index, default="other")


def service_backend(name: str, namespace: str, resources: ResourceSet) -> Backend | None:
    """What a Service leads to; None where Service or workload are not here."""
    service = resources.named(SERVICE, name, namespace)
    pods = pods_behind(service, resources) if service else []
    if not pods:
        return None
    return "vllm" if vllm_among(pods, resources) else "other"


def _backend(name: str, namespace: str, port: int | None, paths: list[str], resources: ResourceSet) -> Backend:
    """What one backend is: by its workload, else by hints."""
    known = service_backend(name, namespace, resources)
    if known:
        return known
    if any(_OPENAI_CALL.match(path) for path in paths) or "vllm" in name.lower():
        return "likely"
    openai = any(path.startswith(_OPENAI_PATH) for path in paths)
    hints = openai + (port == _VLLM_PORT) + bool(_MODEL_NAME.search(name))
    return "likely" if hints > 1 else "possible" if hints else "other"


def rule_backend(rule: Mapping[str, Any], namespace: str, resources: ResourceSet) -> Backend:
    """What one rule of an HTTPRoute leads to: the model server where one of its backends is one."""
    paths = [text(mapping(match.get("path")).get("value")) or "" for match in mappings(rule.get("matches"))]
    answers: list[Backend] = []
    for reference in mappings(rule.get("backendRefs")):
        if text(reference.get("kind")) in _MODEL_BACKENDS:
            return "vllm"
        name, place = text(reference.get("name")) or "", text(reference.get("namespace")) or namespace
        answers.append(_backend(name, place, whole(reference.get("port")), paths, resources))
    return strongest(answers)


def virtual_service_backend(rule: Mapping[str, Any], namespace: str, resources: ResourceSet) -> Backend:
    """What one ``http`` rule of an Istio VirtualService leads to."""
    uris = [mapping(match.get("uri")) for match in mappings(rule.get("match"))]
    paths = [text(value) or "" for uri in uris for value in uri.values()]
    answers = []
    for route in mappings(rule.get("route")):
        destination = mapping(route.get("destination"))
        name, _, rest = (text(destination.get("host")) or "").partition(".")
        port = whole(mapping(destination.get("port")).get("number"))
        answers.append(_backend(name, rest.partition(".")[0] or namespace, port, paths, resources))
    return strongest(answers)


def ingress_backend(ingress: Resource, resources: ResourceSet) -> Backend:
    """What an Ingress leads to: the model server where one of its backends is one."""
    rows = [("", mapping(ingress.at("spec", "defaultBackend")))]
    for rule in mappings(ingress.at("spec", "rules")):
        for row in mappings(mapping(rule.get("http")).get("paths")):
            rows.append((text(row.get("path")) or "", mapping(row.get("backend"))))
    answers = []
    for path, backend in rows:
        service = mapping(backend.get("service"))
        name = text(service.get("name"))
        if name:
            port = whole(mapping(service.get("port")).get("number"))
            answers.append(_backend(name, ingress.namespace, port, [path], resources))
    return strongest(answers)


def route_backend(route: Resource, resources: ResourceSet) -> Backend:
    """The strongest answer of an HTTPRoute's rules."""
    rules = mappings(route.at("spec", "rules"))
    return strongest(rule_backend(rule, route.namespace, resources) for rule in rules)


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
