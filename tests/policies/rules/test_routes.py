"""gateway-stream-timeout, alb-idle-timeout and consistent-hash: the way from a client to a server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import UNKNOWN, Object, judge, manifest, route, server, service, traffic_policy, web

STREAM, ALB, HASH = "gateway-stream-timeout", "alb-idle-timeout", "consistent-hash"
ROUTE, POLICY, INGRESS = "HTTPRoute/chat", "BackendTrafficPolicy/chat", "Ingress/chat"
TO_SERVER = [server(), service()]
TO_WEB = [web("chat"), service()]


@pytest.mark.parametrize(
    ("timeouts", "verdict"),
    [
        ({"request": "0s"}, None),
        ({"request": "0s", "backendRequest": "0s"}, None),
        ({"request": "1h"}, None),
        ({"request": "10m0s"}, None),
        ({"request": "60s"}, "violation"),
        ({"request": "1m30s"}, "violation"),
        ({"request": "500ms"}, "violation"),
        ({"request": "0s", "backendRequest": "15s"}, "violation"),
        ({"request": "400s"}, "advice"),
        ({"request": UNKNOWN}, "undecided"),
        (UNKNOWN, "undecided"),
    ],
)
def test_timeouts_of_a_route(timeouts: Any, verdict: str | None) -> None:
    assert judge(STREAM, route(timeouts), *TO_SERVER) == ([f"{verdict} {ROUTE}"] if verdict else [])


def test_a_backend_that_is_not_here_is_judged_by_hints() -> None:
    assert judge(STREAM, route({"request": "60s"})) == [f"violation {ROUTE}"]
    short = {"request": "60s"}
    assert judge(STREAM, route(short, path="/", port=8000)) == [f"violation {ROUTE}"]
    assert judge(STREAM, route(short, backend="api", path="/v1/chat/completions", port=80)) == [f"violation {ROUTE}"]
    assert judge(STREAM, route(short, backend="vllm", path="/", port=80)) == [f"violation {ROUTE}"]
    # One hint makes a model server possible, none makes it something else: many APIs have a /v1.
    assert judge(STREAM, route(short, backend="api", path="/v1", port=80)) == [f"advice {ROUTE}"]
    assert judge(STREAM, route(short, backend="api", path="/shop", port=80)) == []
    assert judge(STREAM, route(backend="api", path="/shop", port=80)) == []
    assert judge(STREAM, route(short), *TO_WEB) == []


def test_an_inference_pool_is_a_model_server() -> None:
    to_pool = route({"request": "60s"}, path="/", port=80)
    to_pool["spec"]["rules"][0]["backendRefs"] = [
        {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "pool"}
    ]
    assert judge(STREAM, to_pool) == [f"violation {ROUTE}"]


def gateway_class(controller: str) -> list[Object]:
    gateway = manifest(
        "gateway.networking.k8s.io/v1", "Gateway", "edge", {"gatewayClassName": "main"}, namespace="gateway"
    )
    return [gateway, manifest("gateway.networking.k8s.io/v1", "GatewayClass", "main", {"controllerName": controller})]


@pytest.mark.parametrize(
    ("others", "context", "verdict"),
    [
        ([], {"gateway": "Envoy Gateway 1.9"}, "violation"),
        ([traffic_policy(loadBalancer={"type": "LeastRequest"})], {}, "violation"),
        (gateway_class("gateway.envoyproxy.io/gatewayclass-controller"), {}, "violation"),
        ([traffic_policy(timeout={"http": {"requestTimeout": "0s"}})], {}, None),
        ([traffic_policy(timeout={"http": {"requestTimeout": UNKNOWN}})], {}, None),
        ([], {"gateway": "istio"}, None),
        ([], {}, "advice"),
        (gateway_class("istio.io/gateway-controller"), {}, "advice"),
    ],
)
def test_the_default_where_no_timeout_is_stated(others: list[Object], context: Object, verdict: str | None) -> None:
    found = [line for line in judge(STREAM, route(), *TO_SERVER, *others, context=context) if ROUTE in line]
    assert found == ([f"{verdict} {ROUTE}"] if verdict else [])


def test_the_ai_gateways_default() -> None:
    rule = {"backendRefs": [{"name": "chat"}]}
    default = manifest("aigateway.envoyproxy.io/v1", "AIGatewayRoute", "chat", {"rules": [rule]})
    assert judge(STREAM, default) == ["violation AIGatewayRoute/chat"]
    stated = {"rules": [{**rule, "timeouts": {"request": "0s"}}]}
    assert judge(STREAM, manifest("aigateway.envoyproxy.io/v1", "AIGatewayRoute", "chat", stated)) == []


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        ({"timeout": {"http": {"requestTimeout": "60s"}}}, "violation"),
        ({"timeout": {"http": {"maxStreamDuration": "2m"}}}, "violation"),
        ({"retry": {"perRetry": {"timeout": "60s"}}}, "violation"),
        ({"timeout": {"http": {"requestTimeout": "0s", "streamIdleTimeout": "300s"}}}, None),
        ({"timeout": UNKNOWN}, "undecided"),
    ],
)
def test_timeouts_of_a_traffic_policy(spec: Object, verdict: str | None) -> None:
    others = [route({"request": "0s"}), *TO_SERVER]
    assert judge(STREAM, traffic_policy(**spec), *others) == ([f"{verdict} {POLICY}"] if verdict else [])


def test_a_traffic_policy_on_something_else_or_on_nothing_here() -> None:
    short = traffic_policy(timeout={"http": {"requestTimeout": "60s"}})
    assert judge(STREAM, short, route({"request": "0s"}), *TO_WEB) == []
    assert judge(STREAM, short) == [f"advice {POLICY}"]


def test_istios_virtual_services() -> None:
    def virtual_service(**rule: Any) -> Object:
        to = {"route": [{"destination": {"host": "chat.llm.svc.cluster.local"}}]}
        return manifest("networking.istio.io/v1", "VirtualService", "chat", {"http": [{**to, **rule}]})

    assert judge(STREAM, virtual_service(timeout="60s"), *TO_SERVER) == ["violation VirtualService/chat"]
    assert judge(STREAM, virtual_service(), *TO_SERVER) == []
    assert judge(STREAM, virtual_service(timeout="0s"), *TO_SERVER) == []
    assert judge(STREAM, virtual_service(timeout="60s"), *TO_WEB) == []


def ingress(annotations: Any, ingress_class: str | None = "alb") -> Object:
    backend = {"service": {"name": "chat", "port": {"number": 8000}}}
    spec: Object = {"rules": [{"http": {"paths": [{"path": "/v1", "pathType": "Prefix", "backend": backend}]}}]}
    if ingress_class:
        spec["ingressClassName"] = ingress_class
    return manifest("networking.k8s.io/v1", "Ingress", "chat", spec, annotations=annotations)


ATTRIBUTES = "alb.ingress.kubernetes.io/load-balancer-attributes"


@pytest.mark.parametrize(
    ("annotations", "verdict"),
    [
        ({ATTRIBUTES: "idle_timeout.timeout_seconds=1800"}, None),
        ({ATTRIBUTES: "routing.http2.enabled=true, idle_timeout.timeout_seconds=600"}, None),
        ({ATTRIBUTES: "idle_timeout.timeout_seconds=60"}, "violation"),
        ({ATTRIBUTES: "idle_timeout.timeout_seconds=120"}, "advice"),
        ({ATTRIBUTES: "idle_timeout.timeout_seconds=5000"}, "violation"),
        ({ATTRIBUTES: "idle_timeout.timeout_seconds=10m"}, "violation"),
        ({ATTRIBUTES: "deletion_protection.enabled=true"}, "violation"),
        ({}, "violation"),
        ({"alb.ingress.kubernetes.io/connection-idle-timeout": "1800"}, "violation"),
        ({"alb.ingress.kubernetes.io/idle-timeout": "1800"}, "violation"),
        ({"service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout": "1800"}, "violation"),
        ({ATTRIBUTES: UNKNOWN}, "undecided"),
    ],
)
def test_the_load_balancers_idle_timeout(annotations: Object, verdict: str | None) -> None:
    assert judge(ALB, ingress(annotations), *TO_SERVER) == ([f"{verdict} {INGRESS}"] if verdict else [])


def test_a_missing_timeout_before_a_backend_that_is_not_here() -> None:
    assert judge(ALB, ingress({})) == [f"violation {INGRESS}"]  # /v1, port 8000 and its name say what it is
    other = ingress({})
    backend = other["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    backend["name"] = "api"
    backend["port"]["number"] = 80
    assert judge(ALB, other) == [f"advice {INGRESS}"]
    other["spec"]["rules"][0]["http"]["paths"][0]["path"] = "/"
    assert judge(ALB, other) == []
    assert judge(ALB, ingress({}), *TO_WEB) == []


def test_ingresses_of_other_controllers_are_not_its_business() -> None:
    assert judge(ALB, ingress({}, "nginx"), *TO_SERVER) == []
    assert judge(ALB, ingress({"nginx.ingress.kubernetes.io/proxy-read-timeout": "60"}, None), *TO_SERVER) == []


def hashed(**consistent_hash: Any) -> Object:
    return traffic_policy(loadBalancer={"type": "ConsistentHash", "consistentHash": consistent_hash})


SESSION = {"type": "Header", "header": {"name": "x-session-id"}}


@pytest.mark.parametrize(
    ("consistent_hash", "verdict"),
    [
        (SESSION, None),
        ({**SESSION, "tableSize": 65537}, None),
        ({**SESSION, "tableSize": 5000011.0}, None),
        ({**SESSION, "tableSize": 2}, None),
        ({**SESSION, "tableSize": 65536}, "violation"),
        ({**SESSION, "tableSize": 5000077}, "violation"),
        ({**SESSION, "tableSize": 1}, "violation"),
        ({**SESSION, "tableSize": 0}, "violation"),
        ({**SESSION, "tableSize": UNKNOWN}, "undecided"),
        ({"type": "Headers", "headers": [{"name": "x-session-id"}]}, None),
        ({"type": "Headers", "headers": [{"name": "host"}, {"name": "x-session-id"}]}, None),
        ({"type": "Headers", "headers": [{"name": "host"}]}, "violation"),
        ({"type": "Header", "header": {"name": "Content-Type"}}, "violation"),
        ({"type": "Header", "header": {"name": "Authorization"}}, "advice"),
        ({"type": "Header"}, "violation"),
        ({"type": "Cookie", "cookie": {"name": "session"}}, None),
        ({"type": "Cookie", "cookie": {}}, "violation"),
        ({"type": "QueryParams", "queryParams": [{"name": "user"}]}, None),
        ({"type": "SourceIP"}, "advice"),
        ({"type": "RingHash"}, "violation"),
        ({}, "violation"),
    ],
)
def test_hashes(consistent_hash: Object, verdict: str | None) -> None:
    assert judge(HASH, hashed(**consistent_hash)) == ([f"{verdict} {POLICY}"] if verdict else [])


def test_the_source_address_behind_a_load_balancer_can_not_spread() -> None:
    def verdict(gateway: str) -> list[str]:
        return judge(HASH, hashed(type="SourceIP"), context={"gateway": gateway})

    assert verdict("Envoy Gateway behind an NLB") == [f"violation {POLICY}"]
    assert verdict("Envoy Gateway; all clients come from one source address") == [f"violation {POLICY}"]
    assert verdict("Envoy Gateway behind an NLB that preserves the client's address") == [f"advice {POLICY}"]
    assert verdict("an international, alternative gateway") == [f"advice {POLICY}"]


def test_one_policy_for_a_target() -> None:
    second = traffic_policy("second", timeout={"http": {"requestTimeout": "0s"}})
    assert judge(HASH, hashed(**SESSION), second) == [f"violation {POLICY}"]
    other = traffic_policy("second", targetRefs=[{"kind": "HTTPRoute", "name": "other"}])
    assert judge(HASH, hashed(**SESSION), other) == []


def test_a_policy_without_its_target_does_nothing() -> None:
    elsewhere = route({"request": "0s"})
    elsewhere["metadata"]["name"] = "other"
    assert judge(HASH, hashed(**SESSION), elsewhere) == [f"advice {POLICY}"]


def test_other_balancers_and_istios_form() -> None:
    assert judge(HASH, traffic_policy(loadBalancer={"type": "LeastRequest"})) == []

    def destination_rule(**consistent_hash: Any) -> Object:
        policy = {"loadBalancer": {"consistentHash": consistent_hash}}
        return manifest("networking.istio.io/v1", "DestinationRule", "chat", {"host": "chat", "trafficPolicy": policy})

    assert judge(HASH, destination_rule(httpHeaderName="x-session-id", maglev={"tableSize": 65537})) == []
    assert judge(HASH, destination_rule(httpHeaderName="host")) == ["violation DestinationRule/chat"]
    assert judge(HASH, destination_rule(httpHeaderName="x-session-id", maglev={"tableSize": 100})) == [
        "violation DestinationRule/chat"
    ]
