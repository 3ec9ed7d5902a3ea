"""podmonitor-present, -labels, -port-exists and -metrics-path: whether Prometheus gets the metrics."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import (
    UNKNOWN,
    Object,
    found,
    group,
    hpa,
    judge,
    manifest,
    pod_metric,
    pod_monitor,
    release,
    scaled_object,
    server,
    service,
    trigger,
    web,
)

PRESENT, LABELS, PORT, PATH = (
    "podmonitor-present",
    "podmonitor-labels",
    "podmonitor-port-exists",
    "podmonitor-metrics-path",
)
STACK = {"prometheus": "kube-prometheus-stack release 'kps', default selectors"}
MONITOR = "PodMonitor/chat"


def service_monitor(name: str = "chat", **changes: Any) -> Object:
    endpoint = changes.pop("endpoint", {"port": "http"})
    spec = {"selector": {"matchLabels": {"app": name}}, "endpoints": [endpoint], **changes}
    return manifest("monitoring.coreos.com/v1", "ServiceMonitor", name, spec)


ANNOTATED = server(pod_annotations={"prometheus.io/scrape": "true", "prometheus.io/port": "8000"})


def test_a_scaler_without_a_monitor_under_the_operator() -> None:
    assert judge(PRESENT, server(), scaled_object(), context=STACK) == ["violation Deployment/chat"]
    assert judge(PRESENT, ANNOTATED, scaled_object(), context=STACK) == ["violation Deployment/chat"]
    # The address is the operator's own Service, and the annotations show what the author counts on.
    assert judge(PRESENT, ANNOTATED, scaled_object()) == ["violation Deployment/chat"]
    assert judge(PRESENT, server(), scaled_object(), release("kube-prometheus-stack")) == ["violation Deployment/chat"]


def test_a_monitor_may_stand_in_another_file() -> None:
    assert judge(PRESENT, server(), scaled_object()) == ["advice Deployment/chat"]


def test_annotations_serve_where_prometheus_reads_them() -> None:
    context = {"prometheus": "plain chart with annotation based discovery"}
    assert (
        judge(PRESENT, ANNOTATED, scaled_object(trigger(serverAddress="http://prom.mon:9090")), context=context) == []
    )


@pytest.mark.parametrize(
    "scraper",
    [
        [pod_monitor()],
        [service(labels={"app": "chat"}), service_monitor()],
        [pod_monitor(namespace="monitoring", namespaceSelector={"any": True})],
        [pod_monitor(namespace="monitoring", namespaceSelector={"matchNames": ["llm"]})],
        [pod_monitor(selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["chat"]}]})],
        [pod_monitor(selector={})],
        [manifest("operator.victoriametrics.com/v1beta1", "VMPodScrape", "all", {})],
    ],
)
def test_what_scrapes_the_pods(scraper: list[Object]) -> None:
    assert judge(PRESENT, server(), scaled_object(), *scraper, context=STACK) == []


@pytest.mark.parametrize(
    "monitor",
    [
        pod_monitor(selector={"matchLabels": {"app": "other"}}),
        pod_monitor(namespace="monitoring"),
        pod_monitor(selector={"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}),
        service_monitor(),  # without the Service
    ],
)
def test_what_selects_other_pods(monitor: Object) -> None:
    assert judge(PRESENT, server(), scaled_object(), monitor, context=STACK) == ["violation Deployment/chat"]


def test_the_message_names_a_monitor_in_the_wrong_namespace() -> None:
    message = found(PRESENT, server(), scaled_object(), pod_monitor(namespace="monitoring"), context=STACK)[0].message
    assert "PodMonitor/chat would, but looks into another namespace" in message


def test_workloads_that_nobody_scales_on_vllms_series_are_not_its_business() -> None:
    assert judge(PRESENT, server(), context=STACK) == []
    assert judge(PRESENT, server(), hpa(pod_metric()), context=STACK) == []
    assert judge(PRESENT, server(), scaled_object(trigger("sum(gateway_queue)")), context=STACK) == []
    assert judge(PRESENT, web("chat"), scaled_object(), context=STACK) == []


@pytest.mark.parametrize(
    ("context", "labels", "verdict"),
    [
        (STACK, {"release": "kps"}, None),
        (STACK, {"release": "other"}, "violation"),
        (STACK, {"app": "chat"}, "violation"),
        (STACK, None, "violation"),
        ({"prometheus": "kube-prometheus-stack"}, {"release": "anything"}, None),
        ({"prometheus": "kube-prometheus-stack"}, {}, "violation"),
        ({"prometheus": "kube-prometheus-stack, podMonitorSelectorNilUsesHelmValues: false"}, {}, None),
        ({"prometheus": "Prometheus operator with open selectors"}, {}, None),
        ({"prometheus": "operator, podMonitorSelector matchLabels {team: ml}"}, {"team": "ml"}, None),
        ({"prometheus": "operator, podMonitorSelector matchLabels {team: ml}"}, {"release": "kps"}, "violation"),
        ({"prometheus": "kube-prometheus-stack, needs its release label"}, {"release": "anything"}, None),
        ({"prometheus": {"chart": "kube-prometheus-stack", "release": "kps"}}, {}, "violation"),
        ({"prometheus": {"chart": "kube-prometheus-stack", "release": "kps"}}, {"release": "kps"}, None),
        ({"prometheus": "plain chart, annotation based"}, {}, "advice"),
        ({}, {}, "advice"),
        ({}, {"release": "anything"}, None),
    ],
)
def test_labels_against_the_context(context: Object, labels: Object | None, verdict: str | None) -> None:
    expected = [f"{verdict} {MONITOR}"] if verdict else []
    assert judge(LABELS, server(), pod_monitor(labels=labels), context=context) == expected


def spec(**prometheus_spec: Any) -> Object:
    return {"prometheus": {"prometheusSpec": prometheus_spec}}


@pytest.mark.parametrize(
    ("values", "properties", "verdict"),
    [
        ({}, {"name": "kps"}, None),
        ({}, {"name": "other"}, "violation"),
        (spec(podMonitorSelectorNilUsesHelmValues=False), {"name": "other"}, None),
        (spec(podMonitorSelector={"matchLabels": {"team": "ml"}}), {"name": "kps"}, "violation"),
        (spec(serviceMonitorSelectorNilUsesHelmValues=False), {"name": "other"}, "violation"),
        ({}, {"name": UNKNOWN}, None),
    ],
)
def test_labels_against_an_install(values: Object, properties: Object, verdict: str | None) -> None:
    expected = [f"{verdict} {MONITOR}"] if verdict else []
    install = release("kube-prometheus-stack", values, **properties)
    assert judge(LABELS, server(), pod_monitor(labels={"release": "kps"}), install) == expected


def test_labels_against_prometheus_objects() -> None:
    def prometheus(**selectors: Any) -> Object:
        return manifest("monitoring.coreos.com/v1", "Prometheus", "main", selectors)

    monitor = pod_monitor(labels={"team": "ml"})
    assert judge(LABELS, server(), monitor, prometheus(podMonitorSelector={"matchLabels": {"team": "ml"}})) == []
    assert judge(LABELS, server(), monitor, prometheus(podMonitorSelector={})) == []
    assert judge(LABELS, server(), monitor, prometheus()) == [f"violation {MONITOR}"]  # a missing selector takes none
    assert judge(LABELS, server(), monitor, prometheus(serviceMonitorSelector={})) == [f"violation {MONITOR}"]
    both = prometheus(), manifest("monitoring.coreos.com/v1", "Prometheus", "second", {"podMonitorSelector": {}})
    assert judge(LABELS, server(), monitor, *both) == []


def test_labels_that_are_not_known_yet() -> None:
    assert judge(LABELS, pod_monitor(labels={"release": UNKNOWN}), context=STACK) == [f"undecided {MONITOR}"]


@pytest.mark.parametrize(
    ("endpoint", "verdict"),
    [
        ({"port": "http"}, None),
        ({"port": "metrics"}, "violation"),
        ({"port": 8000}, "violation"),
        ({"port": "8000"}, "violation"),
        ({"portNumber": 8000}, None),
        ({"portNumber": 9000}, "violation"),
        ({"targetPort": "http"}, None),
        ({"path": "/metrics"}, "violation"),
        ({"port": UNKNOWN}, "undecided"),
    ],
)
def test_the_port_of_a_pod_monitor(endpoint: Object, verdict: str | None) -> None:
    assert judge(PORT, server(), pod_monitor(endpoint=endpoint)) == ([f"{verdict} {MONITOR}"] if verdict else [])


def test_a_server_that_declares_no_port_has_no_target() -> None:
    assert judge(PORT, server(ports=[]), pod_monitor()) == [f"violation {MONITOR}"]
    assert judge(PORT, server(ports=[{"containerPort": 8000}]), pod_monitor(endpoint={"portNumber": 8000.0})) == []


@pytest.mark.parametrize(
    ("endpoint", "is_violation"),
    [({"port": "http"}, False), ({"port": "web"}, True), ({"targetPort": 8000}, False), ({"targetPort": 1}, True)],
)
def test_the_port_of_a_service_monitor(endpoint: Object, is_violation: bool) -> None:
    expected = ["violation ServiceMonitor/chat"] if is_violation else []
    assert judge(PORT, server(), service(labels={"app": "chat"}), service_monitor(endpoint=endpoint)) == expected


def test_ports_of_pods_that_are_not_here_are_not_its_business() -> None:
    assert judge(PORT, pod_monitor(endpoint={"port": "metrics"})) == []
    assert judge(PORT, web("chat"), pod_monitor(endpoint={"port": "metrics"})) == []


def test_the_pods_of_a_group() -> None:
    assert judge(PORT, group(), pod_monitor(endpoint={"port": "metrics"})) == [f"violation {MONITOR}"]
    by_name = {"matchLabels": {"leaderworkerset.sigs.k8s.io/name": "chat"}}
    assert judge(PORT, group(), pod_monitor(selector=by_name, endpoint={"port": "metrics"})) == [f"violation {MONITOR}"]


@pytest.mark.parametrize(
    ("endpoint", "verdict"),
    [
        ({"port": "http"}, None),
        ({"port": "http", "path": "/metrics"}, None),
        ({"port": "http", "path": "/v1/metrics"}, "violation"),
        ({"port": "http", "path": UNKNOWN}, "undecided"),
        ({"port": "sidecar", "path": "/stats/prometheus"}, None),
    ],
)
def test_the_path(endpoint: Object, verdict: str | None) -> None:
    assert judge(PATH, server(), pod_monitor(endpoint=endpoint)) == ([f"{verdict} {MONITOR}"] if verdict else [])
    assert judge(PATH, web("chat"), pod_monitor(endpoint={"port": "http", "path": "/stats"})) == []
