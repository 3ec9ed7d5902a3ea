"""A model server must not stand on the internet without a key: vLLM answers anybody, on every path."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.monitors import SERVICE, VllmPod, pods_behind, vllm_among
from policies.unknowns import mapping, mappings, sequence, text

_INGRESS = "Ingress.networking.k8s.io"
_SERVICE_SCHEME = "service.beta.kubernetes.io/aws-load-balancer-scheme"
_INGRESS_SCHEME = "alb.ingress.kubernetes.io/scheme"
_INGRESS_CIDRS = "alb.ingress.kubernetes.io/inbound-cidrs"
_INGRESS_LOGIN = "alb.ingress.kubernetes.io/auth-type"
_PUBLIC = "internet-facing"
_EVERYBODY = {"0.0.0.0/0", "::/0"}


def _asks_for_a_key(vllm: VllmPod) -> bool:
    return vllm.server.is_set("api_key") or "VLLM_API_KEY" in vllm.server.environment


def _restricted(ranges: list[str]) -> bool:
    return bool(ranges) and not _EVERYBODY & set(ranges)


def _service(service: Resource, resources: ResourceSet) -> tuple[list[VllmPod], Path]:
    if text(service.at("spec", "type")) != "LoadBalancer" or text(service.annotations.get(_SERVICE_SCHEME)) != _PUBLIC:
        return [], ()
    ranges = [text(item) or "" for item in sequence(service.at("spec", "loadBalancerSourceRanges"))]
    servers = [] if _restricted(ranges) else vllm_among(pods_behind(service, resources), resources)
    return servers, ("metadata", "annotations", _SERVICE_SCHEME)


def _ingress(ingress: Resource, resources: ResourceSet) -> tuple[list[VllmPod], Path]:
    annotations = ingress.annotations
    login = text(annotations.get(_INGRESS_LOGIN))
    if text(annotations.get(_INGRESS_SCHEME)) != _PUBLIC or login not in (None, "none"):
        return [], ()
    ranges = [item.strip() for item in (text(annotations.get(_INGRESS_CIDRS)) or "").split(",") if item.strip()]
    if _restricted(ranges):
        return [], ()
    backends = [mapping(ingress.at("spec", "defaultBackend"))]
    for rule in mappings(ingress.at("spec", "rules")):
        backends += [mapping(path.get("backend")) for path in mappings(mapping(rule.get("http")).get("paths"))]
    names = {text(mapping(backend.get("service")).get("name")) for backend in backends}
    services = [resources.named(SERVICE, name, ingress.namespace) for name in sorted(name for name in names if name)]
    pods = [pod for service in services if service for pod in pods_behind(service, resources)]
    return vllm_among(pods, resources), ("metadata", "annotations", _INGRESS_SCHEME)


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge Services and Ingresses whose load balancer faces the internet and leads straight to a vLLM server."""
    servers, path = (_service if resource.group_kind == SERVICE else _ingress)(resource, resources)
    open_servers = [vllm for vllm in servers if not _asks_for_a_key(vllm)]
    if open_servers:
        yield violation(
            f"its load balancer faces the internet, and {open_servers[0].pod.resource.label} asks for no key: make "
            "the scheme internal, or put a gateway with authentication before it",
            *path,
        )
    elif servers:
        yield advice(
            "its load balancer faces the internet, and vLLM's key does not guard every path (/metrics, /invocations): "
            "let a gateway pass the paths that clients need",
            *path,
        )


RULE = Rule(
    name="model-endpoint-exposure",
    title="A model server does not face the internet unguarded",
    source="vLLM documentation, Security; serving.md section 8, 25; CVE-2026-48746 (the key is bypassed through a "
    "header)",
    fix="Make the load balancer internal, and let an authenticating gateway face the internet.",
    applies_to=(SERVICE, _INGRESS),
    check=check,
    scope="set",
)
