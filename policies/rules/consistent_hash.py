"""A consistent hash must be one that Envoy accepts, on something that differs from session to session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isqrt
from typing import Any

from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.routes import HTTP_ROUTE, TRAFFIC_POLICY, targets
from policies.unknowns import is_unknown, mapping, mappings, number, text

_DESTINATION_RULE = "DestinationRule.networking.istio.io"
# Envoy's Maglev table: a prime up to 5000011 (Envoy API, MaglevLbConfig; Envoy Gateway, ConsistentHash.tableSize).
_LARGEST_TABLE, _DEFAULT_TABLE = 5000011, 65537
_FIELD_OF_TYPE = {"Header": "header", "Headers": "headers", "Cookie": "cookie", "QueryParams": "queryParams"}
# The same for every request of a route: all of them would go to one pod.
_CONSTANT_HEADERS = {
    ":authority", ":method", ":path", ":scheme", "accept", "accept-encoding", "connection", "content-type", "host",
    "x-ai-eg-model", "x-forwarded-proto", "x-gateway-model-name",
}  # fmt: skip
# The same for all requests of one client, or of one key that all clients share.
_COARSE_HEADERS = {"authorization", "x-api-key", "api-key", "user-agent", "x-forwarded-for", "x-real-ip"}

# What a context says about a gateway that sees few source addresses, and about one that sees the clients' own.
_BEHIND = re.compile(
    r"\b([anec]lb|load.?balancers?|s?nat|cloudfront|cdn|(one|same|single) (source )?(ip|address))\b", re.IGNORECASE
)
_KEEPS_ADDRESS = re.compile(r"preserv|proxy.?protocol|client.?ip.?detection", re.IGNORECASE)


def _is_prime(value: int) -> bool:
    return value > 1 and all(value % divisor for divisor in range(2, isqrt(value) + 1))


def _table(value: Any, path: Path) -> Iterator[Outcome]:
    if value is None:
        return
    size = number(value)
    if size is None or size != int(size) or not 1 < size <= _LARGEST_TABLE or not _is_prime(int(size)):
        yield violation(
            f"tableSize {text(value)} is refused: it must be a prime up to {_LARGEST_TABLE}; write {_DEFAULT_TABLE}",
            *path,
        )


def _header(name: str, path: Path) -> Iterator[Outcome]:
    if not name:
        yield violation("the hash names no header: name one that differs between sessions, such as x-session-id", *path)
    elif name in _CONSTANT_HEADERS:
        yield violation(
            f"the hash is on the header {name}, which is the same for every request, so one pod gets all: hash a "
            "header that differs between sessions, such as x-session-id",
            *path,
        )
    elif name in _COARSE_HEADERS:
        yield advice(
            f"the hash is on the header {name}: where clients share a key or a proxy, one pod gets all of them; "
            "prefer a session's header, such as x-session-id",
            *path,
        )


def _source_address(resources: ResourceSet, path: Path) -> Iterator[Outcome]:
    stated = str(resources.context.get("gateway") or "")
    behind = bool(_BEHIND.search(stated)) and not _KEEPS_ADDRESS.search(stated)
    report = violation if behind else advice
    yield report(
        "the hash is on the source address, and behind a load balancer or a proxy all clients have a few of them, so "
        "the load can't spread: hash a session's header or a cookie",
        *path,
    )


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge Envoy Gateway's traffic policies and Istio's destination rules."""
    if resource.group_kind == TRAFFIC_POLICY:
        yield from _traffic_policy(resource, resources)
    else:
        base: Path = ("spec", "trafficPolicy", "loadBalancer", "consistentHash")
        chosen = mapping(resource.at(*base))
        if "httpHeaderName" in chosen:
            yield from _header((text(chosen["httpHeaderName"]) or "").lower(), (*base, "httpHeaderName"))
        if text(chosen.get("useSourceIp")) == "true":
            yield from _source_address(resources, (*base, "useSourceIp"))
        yield from _table(mapping(chosen.get("maglev")).get("tableSize"), (*base, "maglev", "tableSize"))


def _traffic_policy(policy: Resource, resources: ResourceSet) -> Iterator[Outcome]:
    balancer: Path = ("spec", "loadBalancer")
    if text(policy.at(*balancer, "type")) != "ConsistentHash":
        return
    path = (*balancer, "consistentHash")
    chosen = mapping(policy.at(*path))
    kind = text(chosen.get("type")) or ""
    field = _FIELD_OF_TYPE.get(kind)
    if kind == "SourceIP":
        yield from _source_address(resources, (*path, "type"))
    elif field is None:
        allowed = ", ".join(["SourceIP", *_FIELD_OF_TYPE])
        yield violation(f"consistentHash.type is {kind or 'missing'}: write one of {allowed}", *path)
    elif not is_unknown(chosen.get(field)) and not chosen.get(field):
        yield violation(f"consistentHash.type is {kind}, and consistentHash.{field} is missing: add it", *path)
    elif field == "header":
        yield from _header((text(mapping(chosen["header"]).get("name")) or "").lower(), (*path, "header"))
    elif field == "headers":
        yield from _headers(chosen["headers"], (*path, "headers"))
    elif field == "cookie" and not text(mapping(chosen["cookie"]).get("name")):
        yield violation("the hash names no cookie: write consistentHash.cookie.name", *path, "cookie")
    yield from _table(chosen.get("tableSize"), (*path, "tableSize"))
    yield from _second_policy(policy, resources)


def _headers(rows: Any, path: Path) -> Iterator[Outcome]:
    """Several headers hash together: one that differs is enough."""
    names = [(text(row.get("name")) or "").lower() for row in mappings(rows)]
    outcomes = [list(_header(name, path)) for name in names]
    if outcomes and all(outcomes):
        yield outcomes[0][0]


def _second_policy(policy: Resource, resources: ResourceSet) -> Iterator[Outcome]:
    """Envoy Gateway takes one policy for a target; the second is not accepted."""
    mine = set(targets(policy))
    for other in resources.of(TRAFFIC_POLICY):
        if other is policy or other.namespace != policy.namespace:
            continue
        shared = sorted(mine & set(targets(other)))
        if shared:
            kind, name, _ = shared[0]
            yield violation(
                f"{other.label} has the same target, {kind}/{name}, and Envoy Gateway accepts one policy for a "
                "target: merge them",
                "spec",
                "targetRefs",
            )
    routes = [route for route in resources.of(HTTP_ROUTE) if route.namespace == policy.namespace]
    for kind, name, _ in sorted(mine):
        if kind == "HTTPRoute" and routes and all(route.name != name for route in routes):
            yield advice(
                f"it targets HTTPRoute/{name}, which is not here (here are "
                f"{', '.join(route.name for route in routes)}): a policy without its target does nothing, and says "
                "nothing",
                "spec",
                "targetRefs",
            )


RULE = Rule(
    name="consistent-hash",
    title="The consistent hash is accepted, and can spread",
    source="Envoy Gateway, ConsistentHash; envoyproxy/gateway #7186, #7561; facts/serving.md section 4",
    fix="Hash a header or cookie that differs between sessions, with a prime tableSize up to 5000011.",
    applies_to=(TRAFFIC_POLICY, _DESTINATION_RULE),
    check=check,
    scope="set",
)
