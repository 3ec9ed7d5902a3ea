"""networkpolicy-allows-scrape and networkpolicy-allows-dns: what policies cut."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import (
    UNKNOWN,
    Object,
    group,
    judge,
    manifest,
    pod_monitor,
    scaled_object,
    server,
    trigger,
    web,
)

SCRAPE, DNS = "networkpolicy-allows-scrape", "networkpolicy-allows-dns"
VIOLATION = "violation NetworkPolicy/wall"


def policy(name: str = "wall", namespace: str = "llm", **spec: Any) -> Object:
    return manifest("networking.k8s.io/v1", "NetworkPolicy", name, {"podSelector": {}, **spec}, namespace=namespace)


def namespaces(*names: str) -> Object:
    expression = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(names)}
    return {"namespaceSelector": {"matchExpressions": [expression]}}


def named(name: str) -> Object:
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def ingress(*peers: Object, ports: Any = None) -> Object:
    rule: Object = {"from": list(peers)} if peers else {}
    return policy(ingress=[{**rule, **({"ports": ports} if ports is not None else {})}])


OWN_NAMESPACE = {"podSelector": {}}


@pytest.mark.parametrize(
    ("wall", "is_violation"),
    [
        (policy(), True),  # default deny
        (policy(policyTypes=["Ingress"], ingress=[]), True),
        (ingress(OWN_NAMESPACE), True),
        (ingress(named("gateway")), True),
        (ingress(namespaces("gateway", "llm")), True),
        (ingress(named("monitoring"), ports=[{"port": 9000}]), True),
        (ingress(named("monitoring"), ports=[{"port": 8000, "protocol": "UDP"}]), True),
        (ingress(named("monitoring")), False),
        (ingress(namespaces("gateway", "observability")), False),
        (ingress(named("monitoring"), ports=[{"port": 8000}]), False),
        (ingress(named("monitoring"), ports=[{"port": "http"}]), False),
        (ingress(named("monitoring"), ports=[{"port": 7000, "endPort": 9000.0}]), False),
        (ingress(), False),
        (ingress({"namespaceSelector": {}}), False),
        (ingress({"ipBlock": {"cidr": "10.0.0.0/16"}}), False),
        (ingress({"namespaceSelector": {"matchLabels": {"purpose": "metrics"}}}), False),  # who carries it isn't known
        (policy(policyTypes=["Egress"], egress=[]), False),
        (policy(podSelector={"matchLabels": {"app": "other"}}), False),
        (policy(namespace="rag"), False),
    ],
)
def test_scraping(wall: Object, is_violation: bool) -> None:
    assert judge(SCRAPE, server(), pod_monitor(), wall) == ([VIOLATION] if is_violation else [])


def test_what_one_policy_opens_another_need_not() -> None:
    opened = policy("scrape", ingress=[{"from": [named("monitoring")]}])
    assert judge(SCRAPE, server(), pod_monitor(), policy(), opened) == []


def test_the_scalers_address_tells_where_prometheus_lives() -> None:
    scaler = scaled_object(trigger(serverAddress="http://prometheus-operated.platform.svc.cluster.local:9090"))
    assert judge(SCRAPE, server(), scaler, ingress(named("platform"))) == []
    assert judge(SCRAPE, server(), scaler, ingress(named("monitoring"))) == [VIOLATION]
    here = scaled_object(trigger(serverAddress="http://prometheus-operated.llm.svc:9090"))
    assert judge(SCRAPE, server(), here, ingress(OWN_NAMESPACE)) == []


def test_the_context_tells_where_prometheus_lives() -> None:
    context = {"prometheus": "kube-prometheus-stack in namespace platform"}
    assert judge(SCRAPE, server(), pod_monitor(), ingress(named("platform")), context=context) == []
    assert judge(SCRAPE, server(), pod_monitor(), ingress(named("monitoring")), context=context) == [VIOLATION]


def test_labels_of_prometheus_namespace_decide_where_it_is_here() -> None:
    monitoring = manifest("v1", "Namespace", "monitoring", None, labels={"purpose": "metrics"})
    by_label = ingress({"namespaceSelector": {"matchLabels": {"purpose": "metrics"}}})
    by_other = ingress({"namespaceSelector": {"matchLabels": {"purpose": "web"}}})
    assert judge(SCRAPE, server(), scaled_object(), monitoring, by_label) == []
    assert judge(SCRAPE, server(), scaled_object(), monitoring, by_other) == [VIOLATION]


def test_the_port_that_the_server_really_has() -> None:
    other = server("chat", "--port=9000", ports=[{"name": "http", "containerPort": 9000}])
    assert judge(SCRAPE, other, pod_monitor(), ingress(named("monitoring"), ports=[{"port": 8000}])) == [VIOLATION]
    assert judge(SCRAPE, other, pod_monitor(), ingress(named("monitoring"), ports=[{"port": 9000}])) == []


def test_servers_that_nobody_scrapes_and_other_pods_are_not_its_business() -> None:
    assert judge(SCRAPE, server(), policy()) == []
    assert judge(SCRAPE, web("chat"), pod_monitor(), policy()) == []


def test_scraping_not_known_yet() -> None:
    assert judge(SCRAPE, server(), pod_monitor(), policy(ingress=UNKNOWN)) == ["undecided NetworkPolicy/wall"]


UDP_53 = [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]


def egress(*rules: Object, **spec: Any) -> Object:
    return policy(policyTypes=["Egress"], egress=list(rules), **spec)


@pytest.mark.parametrize(
    ("wall", "is_violation"),
    [
        (egress(), True),
        (egress({"to": [OWN_NAMESPACE]}), True),
        (egress({"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 443}]}), True),
        (egress({"to": [named("kube-system")], "ports": [{"protocol": "TCP", "port": 53}]}), True),
        (egress({"to": [named("kube-dns")], "ports": UDP_53}), True),
        (egress({"to": [named("kube-system")], "ports": UDP_53}), False),
        (egress({"to": [named("kube-system")], "ports": [{"protocol": "UDP", "port": "dns"}]}), False),
        (
            egress(
                {
                    "to": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}],
                    "ports": UDP_53,
                }
            ),
            False,
        ),
        (egress({"ports": UDP_53}), False),
        (egress({}), False),
        (egress({"to": [{"ipBlock": {"cidr": "169.254.20.10/32"}}], "ports": UDP_53}), False),
        (policy(egress=[{"to": [OWN_NAMESPACE]}]), True),  # without policyTypes, egress rules restrict egress
        (policy(), False),
        (policy(policyTypes=["Ingress"]), False),
    ],
)
def test_names_of_a_server_that_downloads_its_model(wall: Object, is_violation: bool) -> None:
    assert judge(DNS, server(), wall) == ([VIOLATION] if is_violation else [])


def test_a_server_with_local_weights_is_advised() -> None:
    local = server()
    local["spec"]["template"]["spec"]["containers"][0]["args"] = ["/models/qwen"]
    assert judge(DNS, local, egress()) == ["advice NetworkPolicy/wall"]


@pytest.mark.parametrize("label", ["ray.io/cluster", "leaderworkerset.sigs.k8s.io/name"])
def test_pods_of_a_group_find_each_other_by_name(label: str) -> None:
    selector = {"matchLabels": {label: "chat"}}
    assert judge(DNS, egress({"to": [{"podSelector": selector}]}, podSelector=selector)) == [VIOLATION]
    open_dns = policy("dns", policyTypes=["Egress"], egress=[{"ports": UDP_53}])
    assert judge(DNS, egress(podSelector=selector), open_dns) == []
    assert judge(DNS, group(), egress()) == [VIOLATION]


def test_other_pods_are_not_its_business() -> None:
    assert judge(DNS, web("chat"), egress()) == []
    assert judge(DNS, egress(podSelector={"matchLabels": {"app": "shop"}})) == []


def test_names_not_known_yet() -> None:
    wall = policy(policyTypes=["Egress"], egress=UNKNOWN)
    assert judge(DNS, server(), wall) == ["undecided NetworkPolicy/wall"]
