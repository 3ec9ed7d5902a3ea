"""autoscale-signal: what a model server scales on."""

from __future__ import annotations

import pytest

from tests.policies.builders import (
    UNKNOWN,
    WAITING,
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

RULE = "autoscale-signal"
HPA, SCALED_OBJECT = "HorizontalPodAutoscaler/chat", "ScaledObject/chat"


def host_trigger(kind: str) -> Object:
    return {"type": kind, "metricType": "Utilization", "metadata": {"value": "60"}}


@pytest.mark.parametrize(
    ("scaler", "expected"),
    [
        (hpa(host_metric()), [f"violation {HPA}"]),
        (hpa(host_metric("memory"), pod_metric()), [f"violation {HPA}"]),
        (hpa(pod_metric()), []),
        (hpa(), [f"violation {HPA}"]),  # Kubernetes takes CPU where there is no metric
        (hpa(targetCPUUtilizationPercentage=70) | {"apiVersion": "autoscaling/v1"}, [f"violation {HPA}"]),
        (
            hpa({"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "vllm"}}),
            [f"violation {HPA}"],
        ),
        (hpa(pod_metric("DCGM_FI_DEV_GPU_UTIL")), [f"violation {HPA}"]),
        (scaled_object(), []),
        (scaled_object(trigger("max(vllm:kv_cache_usage_perc)", metric_type="Value")), []),
        (scaled_object(host_trigger("cpu")), [f"violation {SCALED_OBJECT}"]),
        (scaled_object(trigger(), host_trigger("memory")), [f"violation {SCALED_OBJECT}"]),
        (
            scaled_object(trigger('sum(rate(container_cpu_usage_seconds_total{pod=~"chat.*"}[2m]))')),
            [f"violation {SCALED_OBJECT}"],
        ),
        (scaled_object(trigger("avg(DCGM_FI_DEV_GPU_UTIL)")), [f"violation {SCALED_OBJECT}"]),
        (
            scaled_object({"type": "aws-cloudwatch", "metadata": {"metricName": "CPUUtilization"}}),
            [f"violation {SCALED_OBJECT}"],
        ),
        (scaled_object(trigger(), trigger("avg(DCGM_FI_DEV_GPU_UTIL)")), [f"advice {SCALED_OBJECT}"]),
        (scaled_object(trigger("sum(rate(vllm:request_success_total[5m]))")), [f"advice {SCALED_OBJECT}"]),
        (scaled_object(trigger(), {"type": "cron", "metadata": {"desiredReplicas": "2"}}), []),
        (scaled_object(trigger("sum(envoy_cluster_upstream_rq_active)")), []),
        (scaled_object(trigger("sum(llm_d_epp_flow_control_queue_size)")), []),
        (scaled_object(triggers=UNKNOWN), [f"undecided {SCALED_OBJECT}"]),
    ],
)
def test_scalers_of_a_server(scaler: Object, expected: list[str]) -> None:
    assert judge(RULE, server(), scaler) == expected


def test_the_server_need_not_be_here_where_the_metrics_say_whose_they_are() -> None:
    assert judge(RULE, scaled_object(trigger(), host_trigger("cpu"))) == [f"violation {SCALED_OBJECT}"]
    assert judge(RULE, hpa(host_metric(), pod_metric())) == [f"violation {HPA}"]
    assert judge(RULE, hpa(host_metric())) == []
    assert judge(RULE, hpa(host_metric(), target="vllm-chat")) == ["advice HorizontalPodAutoscaler/vllm-chat"]
    assert judge(RULE, web("vllm-docs"), hpa(host_metric(), target="vllm-docs")) == []


def test_a_query_that_is_not_known_yet() -> None:
    assert judge(RULE, server(), scaled_object(trigger(UNKNOWN))) == [f"undecided {SCALED_OBJECT}"]


def test_other_workloads_may_scale_on_cpu() -> None:
    assert judge(RULE, web(), hpa(host_metric(), target="shop")) == []
    assert judge(RULE, web(), scaled_object(host_trigger("cpu"), target="shop")) == []
    assert judge(RULE, web(), scaled_object(trigger(), host_trigger("cpu"), target="shop")) == []


def test_kedas_own_hpa_is_not_reported_again() -> None:
    own = hpa(host_metric(), name="keda-hpa-chat")
    own["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "keda-operator"}
    found = judge(RULE, server(), scaled_object(trigger(WAITING), host_trigger("cpu")), own)
    assert found == [f"violation {SCALED_OBJECT}"]
