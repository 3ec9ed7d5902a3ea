"""A route to a model server must not bound a response's whole duration: a stream of tokens is cut in mid-sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.durations import duration_seconds
from policies.model import Outcome, Parameter, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.routes import (
    AI_ROUTE,
    HTTP_ROUTE,
    TRAFFIC_POLICY,
    VIRTUAL_SERVICE,
    Backend,
    is_envoy_gateway,
    policies_of,
    route_backend,
    rule_backend,
    strongest,
    virtual_service_backend,
)
from policies.unknowns import is_unknown, mapping, mappings, text

# Envoy's route timeout where nothing is stated (Envoy Gateway documentation, HTTP timeouts), and Envoy AI Gateway's.
_ENVOY_DEFAULT_SECONDS, _AI_GATEWAY_DEFAULT_SECONDS = 15, 60
_HTTP_TIMEOUT: Path = ("spec", "timeout", "http")
_BOUNDS = ("requestTimeout", "maxStreamDuration")


def _judge(value: Any, what: str, backend: Backend, parameters: Parameters, path: Path) -> Iterator[Outcome]:
    """Judge one bound on the whole response; 0 switches it off."""
    seconds = duration_seconds(value)
    if not seconds or seconds >= float(parameters["advised_seconds"]):
        return
    certain = seconds < float(parameters["minimum_seconds"]) and backend in ("vllm", "likely")
    report = violation if certain else advice
    yield report(
        f"{what} is {text(value)}, and it counts the whole response, not the pause between tokens: streams are cut "
        f"after {seconds:g} s. Write 0s, and bound pauses by a stream idle timeout",
        *path,
    )


def check(resource: Resource, resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """Judge routes and Envoy Gateway's traffic policies that lead to model servers, or look like it."""
    if resource.group_kind == TRAFFIC_POLICY:
        yield from _traffic_policy(resource, resources, parameters)
    elif resource.group_kind == VIRTUAL_SERVICE:
        for index, rule in enumerate(mappings(resource.at("spec", "http"))):
            backend = virtual_service_backend(rule, resource.namespace, resources)
            if backend != "other":
                path: Path = ("spec", "http", index, "timeout")
                yield from _judge(rule.get("timeout"), "timeout", backend, parameters, path)
    else:
        yield from _route(resource, resources, parameters)


def _route(route: Resource, resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    for index, rule in enumerate(mappings(route.at("spec", "rules"))):
        backend = rule_backend(rule, route.namespace, resources)
        if backend == "other":
            continue
        path: Path = ("spec", "rules", index)
        timeouts = mapping(rule.get("timeouts"))
        for key in ("request", "backendRequest"):
            what = f"timeouts.{key}"
            yield from _judge(timeouts.get(key), what, backend, parameters, (*path, "timeouts", key))
        if timeouts.get("request") is None and not _bounded_elsewhere(route, resources):
            yield from _default(route, backend, resources, path)


def _bounded_elsewhere(route: Resource, resources: ResourceSet) -> bool:
    """Whether a traffic policy states the request timeout (it is then judged itself), or may do so."""
    found = [policy.at(*_HTTP_TIMEOUT, "requestTimeout") for policy in policies_of(route, resources)]
    return any(is_unknown(value) or value is not None for value in found)


def _default(route: Resource, backend: Backend, resources: ResourceSet, path: Path) -> Iterator[Outcome]:
    if route.group_kind == AI_ROUTE:
        whose, seconds, certain = "Envoy AI Gateway's", _AI_GATEWAY_DEFAULT_SECONDS, True
    else:
        whose, seconds = "Envoy's", _ENVOY_DEFAULT_SECONDS
        certain = backend in ("vllm", "likely") and is_envoy_gateway(route, resources)
        if not certain and resources.context.get("gateway"):
            return  # another gateway, with defaults of its own
    report = violation if certain else advice
    yield report(
        f"it states no request timeout, and {whose} default cuts every response after {seconds} s: write timeouts: "
        '{request: "0s"}, and bound pauses by a stream idle timeout',
        *path,
    )


def _traffic_policy(policy: Resource, resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    backend = _backend_of_policy(policy, resources)
    if backend == "other":
        return
    for key in _BOUNDS:
        path = (*_HTTP_TIMEOUT, key)
        yield from _judge(policy.at(*path), f"timeout.http.{key}", backend, parameters, path)
    path = ("spec", "retry", "perRetry", "timeout")
    yield from _judge(policy.at(*path), "retry.perRetry.timeout", backend, parameters, path)


def _backend_of_policy(policy: Resource, resources: ResourceSet) -> Backend:
    """What the routes that a policy is attached to lead to; possibly a model server where none of them is here."""
    answers = [
        route_backend(route, resources)
        for route in resources.of(HTTP_ROUTE, AI_ROUTE)
        if policy in policies_of(route, resources)
    ]
    return strongest(answers) if answers else "possible"


RULE = Rule(
    name="gateway-stream-timeout",
    title="No timeout cuts a stream",
    source="nvcf #1060, #1064; LLMKube #734, #817; infra #2078 (nicolerenee); Envoy Gateway, HTTP timeouts",
    fix="Set the route's request timeout to 0s and a stream idle timeout of some minutes.",
    applies_to=(HTTP_ROUTE, AI_ROUTE, VIRTUAL_SERVICE, TRAFFIC_POLICY),
    check=check,
    scope="set",
    parameters={
        "minimum_seconds": Parameter(300, "number", "A bound on the whole response below this is a violation."),
        "advised_seconds": Parameter(
            600, "number", "Below this it is advice: 16,000 tokens at 30 a second take 530 s."
        ),
    },
)
