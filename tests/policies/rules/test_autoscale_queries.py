"""autoscale-metric-name, -labels, -type and keda-query-single-series: queries that can't work."""

from __future__ import annotations

import pytest

from tests.policies.builders import (
    UNKNOWN,
    WAITING,
    Object,
    found,
    hpa,
    judge,
    manifest,
    pod_metric,
    pod_monitor,
    scaled_object,
    server,
    trigger,
)

NAME, LABELS, TYPE, SINGLE = (
    "autoscale-metric-name",
    "autoscale-metric-labels",
    "autoscale-metric-type",
    "keda-query-single-series",
)
VIOLATION, ADVICE, UNDECIDED = "violation ScaledObject/chat", "advice ScaledObject/chat", "undecided ScaledObject/chat"


def query(text: str, **changes: object) -> Object:
    return scaled_object(trigger(text, **changes))


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (WAITING, "0.33.0", []),
        (WAITING, "0.6.3", []),
        ("sum(vllm_num_requests_waiting)", "0.33.0", [VIOLATION]),
        ('max({__name__="vllm_num_requests_waiting"})', "0.33.0", [VIOLATION]),
        ("max(vllm:gpu_cache_usage_perc)", "0.33.0", [VIOLATION]),
        ("max(vllm:gpu_cache_usage_perc)", "0.6.3", []),
        ("max(vllm:kv_cache_usage_perc)", "0.6.3", [VIOLATION]),
        ("max(vllm:kv_cache_usage_perc)", "0.33.0", []),
        ("sum(vllm:num_requests_swapped)", "0.33.0", [VIOLATION]),
        ("sum(vllm:queue_length)", "0.33.0", [VIOLATION]),
        ("sum(rate(vllm:prompt_tokens[5m]))", "0.33.0", [VIOLATION]),
        ("sum(rate(vllm:prompt_tokens_total[5m]))", "0.33.0", []),
        ("histogram_quantile(0.95, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m])))", "0.33.0", []),
        (
            "histogram_quantile(0.95, sum by (le) (rate(vllm:time_per_output_token_seconds_bucket[5m])))",
            "0.33.0",
            [VIOLATION],
        ),
        ("sum(vllm:requests:waiting_sum)", "0.33.0", [ADVICE]),  # the form of a recording rule
        ("sum(vllm:brand_new_metric)", "0.40.0", [ADVICE]),  # newer than the table
        ("sum(envoy_cluster_upstream_rq_active)", "0.33.0", []),
        ("sum({{ .Values.metric }})", "0.33.0", []),
    ],
)
def test_names(text: str, version: str, expected: list[str]) -> None:
    assert judge(NAME, server(version=version), query(text)) == expected


def test_the_fix_names_the_series_that_took_over() -> None:
    finding = found(NAME, server(), query("max(vllm:gpu_cache_usage_perc)"))[0]
    assert "write vllm:kv_cache_usage_perc" in finding.message
    finding = found(NAME, server(), query("sum(vllm_num_requests_waiting)"))[0]
    assert "with a colon: write vllm:num_requests_waiting" in finding.message


def test_a_version_that_nobody_states_is_advised_on_what_is_gone() -> None:
    assert judge(NAME, query("max(vllm:gpu_cache_usage_perc)")) == [ADVICE]
    assert judge(NAME, query("sum(vllm_num_requests_waiting)")) == [VIOLATION]
    assert judge(NAME, query("sum(vllm:no_such_metric)")) == [VIOLATION]


def test_a_recording_rule_gives_a_series_any_name() -> None:
    groups = [{"name": "vllm", "rules": [{"record": "vllm_num_requests_waiting", "expr": WAITING}]}]
    recording = manifest("monitoring.coreos.com/v1", "PrometheusRule", "vllm", {"groups": groups})
    assert judge(NAME, server(), query("sum(vllm_num_requests_waiting)"), recording) == []


def test_adapters_rename_and_are_advised_at_most() -> None:
    assert judge(NAME, server(), hpa(pod_metric("vllm_num_requests_waiting"))) == []
    assert judge(NAME, server(), hpa(pod_metric("queue_depth"))) == []
    dead = hpa(pod_metric("vllm_gpu_cache_usage_perc"))
    assert judge(NAME, server(), dead) == ["advice HorizontalPodAutoscaler/chat"]


def test_queries_that_are_not_known_yet() -> None:
    for rule in (NAME, LABELS, TYPE, SINGLE):
        assert judge(rule, server(), query(UNKNOWN)) == [UNDECIDED]


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ('model_name="qwen3-8b-chat"', []),
        ('model_name="qwen3-8b"', [VIOLATION]),
        ('model_name=~"qwen3-.*"', []),
        ('model_name=~"qwen3-8b"', [VIOLATION]),
        ('model_name!="qwen3-8b"', []),
        ('model_name="Qwen/Qwen3-8B"', [VIOLATION]),
        ('namespace="llm"', []),
        ('namespace="default"', [VIOLATION]),
        ('namespace=~"llm|rag"', []),
        ('pod=~"chat-.*", engine="0"', []),
        ('cluster="eu"', []),
        ('app="chat"', [ADVICE]),
        ('app!="web"', []),
        ('app="chatty"', [VIOLATION]),  # not even a scrape that copies the pods' labels gives this value
        ('model="qwen3-8b-chat"', [VIOLATION]),  # and no pod carries this label
    ],
)
def test_labels(matcher: str, expected: list[str]) -> None:
    served = server("chat", "--served-model-name=qwen3-8b-chat")
    assert judge(LABELS, served, query(f"sum(vllm:num_requests_waiting{{{matcher}}})")) == expected


def test_the_first_served_name_is_the_label_and_the_model_where_none_is_given() -> None:
    two = server("chat", "--served-model-name", "first", "second")
    assert judge(LABELS, two, query('sum(vllm:num_requests_waiting{model_name="second"})')) == [VIOLATION]
    assert judge(LABELS, server(), query('sum(vllm:num_requests_waiting{model_name="Qwen/Qwen3-8B"})')) == []


def test_a_label_that_only_a_monitor_can_add() -> None:
    by_app = query('sum(vllm:num_requests_waiting{app="chat"})')
    assert judge(LABELS, server(), by_app, pod_monitor()) == [VIOLATION]
    assert judge(LABELS, server(), by_app, pod_monitor(podTargetLabels=["app"])) == []
    wrong = query('sum(vllm:num_requests_waiting{app="chatty"})')
    assert judge(LABELS, server(), wrong, pod_monitor(podTargetLabels=["app"])) == [VIOLATION]
    relabeled = pod_monitor(endpoint={"port": "http", "relabelings": [{"targetLabel": "app", "replacement": "chat"}]})
    assert judge(LABELS, server(), by_app, relabeled) == []
    constant = pod_monitor(endpoint={"port": "http", "relabelings": [{"targetLabel": "app", "replacement": "all"}]})
    assert judge(LABELS, server(), query('sum(vllm:num_requests_waiting{app="all"})'), constant) == []
    for_another = pod_monitor(endpoint={"port": "http", "relabelings": [{"targetLabel": "team", "replacement": "ml"}]})
    assert judge(LABELS, server(), by_app, for_another) == [VIOLATION]
    mapped = pod_monitor(endpoint={"port": "http", "relabelings": [{"action": "labelmap", "regex": "__meta_(.+)"}]})
    assert judge(LABELS, server(), by_app, mapped) == []


def test_labels_of_other_series_and_servers_that_are_not_here() -> None:
    assert judge(LABELS, server(), query('sum(envoy_cluster_upstream_rq_active{app="chat"})')) == []
    assert judge(LABELS, query('sum(vllm:num_requests_waiting{model_name="any", namespace="any"})')) == []
    nowhere = server()
    del nowhere["metadata"]["namespace"]  # kubectl's -n decides
    at_home = query('sum(vllm:num_requests_waiting{namespace="any"})')
    del at_home["metadata"]["namespace"]
    assert judge(LABELS, nowhere, at_home) == []


@pytest.mark.parametrize(
    ("text", "metric_type", "threshold", "expected"),
    [
        ("max(vllm:kv_cache_usage_perc)", None, "0.85", [VIOLATION]),
        ("avg(vllm:kv_cache_usage_perc)", "AverageValue", "0.85", [VIOLATION]),
        ("sum(vllm:kv_cache_usage_perc) / count(vllm:kv_cache_usage_perc)", None, "0.85", [VIOLATION]),
        ("max(avg_over_time(vllm:kv_cache_usage_perc[2m])) or vector(0)", None, "0.85", [VIOLATION]),
        ("max(vllm:kv_cache_usage_perc)", "Value", "0.85", []),
        ("sum(vllm:kv_cache_usage_perc)", None, "0.75", []),
        ("round(sum(vllm:kv_cache_usage_perc), 0.1)", None, "0.75", []),
        ("sum(vllm:kv_cache_usage_perc)", "Value", "0.75", [VIOLATION]),
        ("max(vllm:kv_cache_usage_perc)", "Value", "85", [VIOLATION]),
        ("max(vllm:kv_cache_usage_perc) * 100", "Value", "85", []),
        ("avg(vllm:kv_cache_usage_perc) * count(vllm:kv_cache_usage_perc)", None, "0.75", []),
        (WAITING, None, "5", []),
        (WAITING, "Value", "5", [ADVICE]),
        ("avg(vllm:num_requests_waiting)", None, "5", [ADVICE]),
        ("sum(vllm:num_requests_running + vllm:num_requests_waiting)", None, "32", []),
        (
            "histogram_quantile(0.95, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m])))",
            None,
            "2",
            [VIOLATION],
        ),
        ("histogram_quantile(0.95, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m])))", "Value", "2", []),
        (WAITING, "Utilization", "5", [VIOLATION]),
        ("max(envoy_cluster_upstream_rq_active)", None, "5", []),
    ],
)
def test_types(text: str, metric_type: str | None, threshold: str, expected: list[str]) -> None:
    assert judge(TYPE, query(text, metric_type=metric_type, threshold=threshold)) == expected


def test_a_formula_has_a_type_of_its_own() -> None:
    advanced = {"scalingModifiers": {"formula": "kv / 0.85", "target": "1", "metricType": "Value"}}
    composed = scaled_object(trigger("max(vllm:kv_cache_usage_perc)", threshold="0.85"), advanced=advanced)
    assert judge(TYPE, composed) == []


def test_an_hpas_share_as_average_is_advised_since_the_adapter_may_sum() -> None:
    metric = {
        "metric": {"name": "vllm_kv_cache_usage_perc"},
        "target": {"type": "AverageValue", "averageValue": "800m"},
    }
    assert judge(TYPE, hpa({"type": "External", "external": metric})) == ["advice HorizontalPodAutoscaler/chat"]
    assert judge(TYPE, hpa(pod_metric("vllm_kv_cache_usage_perc"))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm:num_requests_waiting", [VIOLATION]),
        ('vllm:num_requests_waiting{namespace="llm"}', [VIOLATION]),
        ("avg_over_time(vllm:kv_cache_usage_perc[5m])", [VIOLATION]),
        ("sum by (pod) (vllm:num_requests_waiting)", [VIOLATION]),
        ("sum without (engine) (vllm:num_requests_waiting)", [VIOLATION]),
        ("max(vllm:num_requests_waiting) by (instance)", [VIOLATION]),
        ("topk(3, vllm:num_requests_waiting)", [VIOLATION]),
        ("sum by (model_name) (vllm:num_requests_waiting)", [ADVICE]),
        ('sum by (model_name) (vllm:num_requests_waiting{model_name="qwen"})', []),
        ('vllm:num_requests_waiting{pod="chat-0"}', []),
        ("topk(1, vllm:num_requests_waiting)", []),
        ("histogram_quantile(0.9, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket[5m])))", []),
        ("sum(a) / sum(b) > 0.5 or vector(0)", []),
        ("scalar(max(vllm:num_requests_waiting))", []),
        ("sum(vllm:num_requests_waiting", [UNDECIDED]),
        ("{{ .Values.query }}", [UNDECIDED]),
    ],
)
def test_one_series(text: str, expected: list[str]) -> None:
    assert judge(SINGLE, query(text)) == expected


def test_one_pod_gives_one_series_and_kedas_default_is_a_hundred_pods() -> None:
    bare = trigger("vllm:num_requests_waiting")
    assert judge(SINGLE, scaled_object(bare, maxReplicaCount=1)) == []
    assert judge(SINGLE, scaled_object(bare, maxReplicaCount=None)) == [VIOLATION]
    assert judge(SINGLE, scaled_object({"type": "cron", "metadata": {}})) == []
