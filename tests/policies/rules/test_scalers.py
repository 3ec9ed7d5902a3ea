"""keda-trigger-required-fields, scale-from-zero-signal and one-autoscaler-per-target."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import (
    UNKNOWN,
    Object,
    host_metric,
    hpa,
    judge,
    pod_metric,
    scaled_object,
    server,
    trigger,
    web,
)

FIELDS, ZERO, ONE = "keda-trigger-required-fields", "scale-from-zero-signal", "one-autoscaler-per-target"
VIOLATION = "violation ScaledObject/chat"


@pytest.mark.parametrize("field", ["serverAddress", "query", "threshold"])
@pytest.mark.parametrize("value", [None, "", " "])
def test_a_missing_field(field: str, value: str | None) -> None:
    assert judge(FIELDS, scaled_object(trigger(**{field: value}))) == [VIOLATION]  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [5, 0.85, True, ["5"]])
def test_a_value_that_is_no_text(value: Any) -> None:
    assert VIOLATION in judge(FIELDS, scaled_object(trigger(threshold=value)))


def test_other_forms_that_keda_refuses() -> None:
    assert judge(FIELDS, scaled_object(trigger(threshold="five"))) == [VIOLATION]
    assert judge(FIELDS, scaled_object(triggers=[])) == [VIOLATION]
    assert judge(FIELDS, scaled_object({"metadata": {"query": "up"}})) == [VIOLATION]


def test_complete_triggers_pass_and_unknown_fields_count_as_given() -> None:
    assert judge(FIELDS, scaled_object()) == []
    assert judge(FIELDS, scaled_object(trigger(serverAddress=UNKNOWN))) == []
    assert judge(FIELDS, scaled_object({"type": "kafka", "metadata": {"topic": "prompts"}})) == []
    assert judge(FIELDS, scaled_object(triggers=UNKNOWN)) == ["undecided ScaledObject/chat"]


@pytest.mark.parametrize(
    ("changes", "is_violation"),
    [
        ({"minReplicaCount": 0}, True),
        ({"minReplicaCount": "0"}, True),
        ({"minReplicaCount": None}, True),  # KEDA's default is 0
        ({"minReplicaCount": 2, "idleReplicaCount": 0}, True),
        ({"minReplicaCount": 1}, False),
    ],
)
def test_zero_on_the_pods_own_metric(changes: Object, is_violation: bool) -> None:
    assert judge(ZERO, server(), scaled_object(**changes)) == ([VIOLATION] if is_violation else [])


@pytest.mark.parametrize(
    ("other", "is_violation"),
    [
        (trigger("sum(envoy_cluster_upstream_rq_active)"), False),
        (trigger("sum(vllm:num_requests_waiting) + sum(gateway_queue)"), False),
        (trigger("sum(vllm:num_requests_waiting) or vector(0)"), True),
        (trigger("max(vllm:kv_cache_usage_perc)"), True),
        ({"type": "cron", "metadata": {"desiredReplicas": "1"}}, False),
        ({"type": "cpu", "metadata": {"value": "50"}}, True),
    ],
)
def test_a_second_trigger_may_wake_the_pods(other: Object, is_violation: bool) -> None:
    scaler = scaled_object(trigger(), other, minReplicaCount=0)
    assert judge(ZERO, server(), scaler) == ([VIOLATION] if is_violation else [])


def test_hpas_that_go_to_zero() -> None:
    assert judge(ZERO, server(), hpa(pod_metric(), minReplicas=0)) == ["violation HorizontalPodAutoscaler/chat"]
    assert judge(ZERO, server(), hpa(pod_metric("gateway_queue"), minReplicas=0)) == []
    assert judge(ZERO, server(), hpa(pod_metric())) == []


def test_zero_elsewhere_or_not_known_yet() -> None:
    assert judge(ZERO, web(), scaled_object(trigger("sum(up)"), target="shop", minReplicaCount=0)) == []
    # A client that scales on the servers' queue does not take that metric along when it goes.
    assert judge(ZERO, web("client"), scaled_object(target="client", minReplicaCount=0)) == []
    assert judge(ZERO, server(), scaled_object(minReplicaCount=UNKNOWN)) == ["undecided ScaledObject/chat"]


def test_a_scaled_object_and_an_hpa_on_one_target() -> None:
    assert judge(ONE, scaled_object(), hpa(pod_metric(), name="second")) == [VIOLATION]
    assert judge(ONE, hpa(pod_metric(), name="second"), scaled_object()) == [VIOLATION]


def test_two_of_a_kind_are_reported_once_on_the_later() -> None:
    assert judge(ONE, hpa(host_metric()), hpa(pod_metric(), name="second")) == [
        "violation HorizontalPodAutoscaler/second"
    ]
    assert judge(ONE, scaled_object(), scaled_object(name="second")) == ["violation ScaledObject/second"]


def test_different_targets_namespaces_and_kinds_pass() -> None:
    assert judge(ONE, scaled_object(), hpa(pod_metric(), target="other")) == []
    elsewhere = hpa(pod_metric())
    elsewhere["metadata"]["namespace"] = "rag"
    assert judge(ONE, scaled_object(), elsewhere) == []
    stateful = scaled_object(name="set", scaleTargetRef={"kind": "StatefulSet", "name": "chat"})
    assert judge(ONE, scaled_object(), stateful) == []


def test_an_hpa_that_keda_made_or_takes_over_is_no_second_one() -> None:
    assert judge(ONE, scaled_object(), hpa(pod_metric(), name="keda-hpa-chat")) == []
    owner = scaled_object(advanced={"horizontalPodAutoscalerConfig": {"name": "kept"}})
    owner["metadata"]["annotations"] = {"scaledobject.keda.sh/transfer-hpa-ownership": "true"}
    assert judge(ONE, owner, hpa(pod_metric(), name="kept")) == []
    assert judge(ONE, owner, hpa(pod_metric(), name="another")) == [VIOLATION]


def test_a_target_that_is_not_known_yet() -> None:
    unknown = scaled_object(scaleTargetRef={"name": UNKNOWN})
    assert judge(ONE, unknown, hpa(pod_metric(), name="second")) == ["undecided ScaledObject/chat"]
