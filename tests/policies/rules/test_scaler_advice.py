"""replicas-left-to-scaler, keda-cooldown-effect and keda-missing-data: worth a look, never a reason to refuse."""

from __future__ import annotations

import pytest

from tests.policies.builders import (
    UNKNOWN,
    WAITING,
    Object,
    hpa,
    judge,
    pod_metric,
    scaled_object,
    server,
    trigger,
    web,
)

REPLICAS, COOLDOWN, MISSING = "replicas-left-to-scaler", "keda-cooldown-effect", "keda-missing-data"
ADVICE = ["advice ScaledObject/chat"]
SCALE_DOWN = {"horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 900}}}}
FALLBACK = {"failureThreshold": 3, "replicas": 2, "behavior": "currentReplicasIfHigher"}


@pytest.mark.parametrize("scaler", [scaled_object(), hpa(pod_metric())])
def test_replicas_beside_a_scaler(scaler: Object) -> None:
    assert judge(REPLICAS, server(replicas=2), scaler) == ["advice Deployment/chat"]
    assert judge(REPLICAS, server(replicas=UNKNOWN), scaler) == ["advice Deployment/chat"]
    assert judge(REPLICAS, server(), scaler) == []
    assert judge(REPLICAS, server("other", replicas=2), scaler) == []
    live = server(replicas=2)
    live["metadata"]["uid"] = "1b6d…"
    assert judge(REPLICAS, live, scaler) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"cooldownPeriod": 360}, ADVICE),
        ({"cooldownPeriod": 360, "minReplicaCount": 0}, []),
        ({"cooldownPeriod": 360, "advanced": SCALE_DOWN}, []),
        ({}, []),
        ({"cooldownPeriod": UNKNOWN}, ["undecided ScaledObject/chat"]),
    ],
)
def test_a_cooldown_above_zero_replicas(spec: Object, expected: list[str]) -> None:
    assert judge(COOLDOWN, server(), scaled_object(**spec)) == expected


def test_cooldowns_of_other_workloads_are_not_its_business() -> None:
    scaler = scaled_object(trigger("sum(up)"), target="shop", cooldownPeriod=360)
    assert judge(COOLDOWN, web(), scaler) == []


@pytest.mark.parametrize(
    ("text", "null_values", "fallback", "count"),
    [
        (WAITING, None, None, 1),
        (WAITING, None, FALLBACK, 1),
        (WAITING, "false", None, 1),
        (WAITING, "false", FALLBACK, 0),
        (f"{WAITING} or vector(0)", "false", FALLBACK, 1),
        ("sum(gateway_queue)", None, None, 0),
    ],
)
def test_missing_data(text: str, null_values: str | None, fallback: Object | None, count: int) -> None:
    scaler = scaled_object(trigger(text, ignoreNullValues=null_values), fallback=fallback)
    assert judge(MISSING, scaler) == ADVICE * count


def test_missing_data_not_known_yet() -> None:
    unknown = scaled_object(trigger(ignoreNullValues=UNKNOWN), fallback=FALLBACK)
    assert judge(MISSING, unknown) == ["undecided ScaledObject/chat"]
