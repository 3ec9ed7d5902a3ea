"""How KEDA compares a metric must fit what the query returns: a share or percentile as Value, a sum as AverageValue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from policies import promql
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.scalers import HPA, SCALED_OBJECT, Trigger, is_vllm_name, triggers
from policies.unknowns import mapping, number, sequence, text
from policies.vllm_metrics import is_latency, is_ratio

Growth = Literal["total", "level", "constant"]
"""Whether a value grows with the replicas at equal load of each (a total), or stays (a level)."""

_TOTALS = {"sum", "count", "count_values"}
_POD_LABELS = frozenset({"pod", "instance"})


def growth(expression: promql.Expression) -> Growth:
    """How the value of an expression moves when replicas are added."""
    if isinstance(expression, promql.Number):
        return "constant"
    if isinstance(expression, promql.Selector):
        return "level"
    if isinstance(expression, promql.Call):
        if expression.function.startswith("histogram_"):
            return "level"
        growths = [growth(argument) for argument in expression.arguments]
        return next((found for found in growths if found != "constant"), "constant")
    if isinstance(expression, promql.Aggregation):
        if expression.operator in _TOTALS:
            return "level" if expression.mode == "by" and expression.labels & _POD_LABELS else "total"
        return "total" if growth(expression.operand) == "total" else "level"
    return _growth_of_binary(expression)


def _growth_of_binary(binary: promql.Binary) -> Growth:
    left, right = growth(binary.left), growth(binary.right)
    if binary.operator == "or":
        return left if left != "constant" else right
    if binary.operator == "/":
        return "level" if right == "total" else left if left != "constant" else "level"
    if binary.operator in ("+", "-", "*"):
        return "total" if "total" in (left, right) else "level" if "level" in (left, right) else "constant"
    return left if left != "constant" else right


def _scales_up(expression: promql.Expression) -> bool:
    """Whether the query multiplies by a number, e.g. a share by 100."""
    if not isinstance(expression, promql.Binary):
        return False
    if expression.operator == "*" and (
        isinstance(expression.left, promql.Number) or isinstance(expression.right, promql.Number)
    ):
        return True
    return _scales_up(expression.left) or _scales_up(expression.right)


def _is_share(names: list[str], expression: promql.Expression) -> bool:
    hits = (
        any("_hits" in name for name in names) and isinstance(expression, promql.Binary) and expression.operator == "/"
    )
    return hits or any(is_ratio(name) for name in names)


def _judge(trigger: Trigger, expression: promql.Expression) -> Iterator[Outcome]:
    names = [selector.name for selector in promql.selectors(expression)]
    if not any(is_vllm_name(name) for name in names):
        return
    share = _is_share(names, expression)
    seconds = any(is_latency(name) for name in names)
    what = "a share from 0 to 1" if share else "a latency" if seconds else "a count of one pod"
    path = (*trigger.path, "metricType")
    moves = growth(expression)
    # A bare metric is no level of one pod but a series a pod: keda-query-single-series says so.
    is_level = moves == "level" and (share or seconds or promql.varying(expression).is_one)
    if is_level and trigger.metric_type == "AverageValue":
        report = violation if share or seconds else advice
        yield report(
            f"the query returns {what}, and metricType AverageValue (the default) divides it by the number of "
            "replicas, so the scaler stops after few: write metricType: Value, or let the query sum over the pods",
            *path,
        )
    if moves == "total" and trigger.metric_type == "Value" and not seconds:
        report = violation if share else advice
        yield report(
            "the query sums over the pods, and metricType Value multiplies it by the number of replicas again, so "
            "each step asks for more: write metricType: AverageValue, or let the query take max or avg",
            *path,
        )
    threshold = number(trigger.metadata.get("threshold"))
    if share and moves == "level" and threshold is not None and threshold > 1 and not _scales_up(expression):
        yield violation(
            f"the query returns a share from 0 to 1, and the threshold is {threshold:g}, which it never reaches: write "
            f'threshold: "{threshold / 100:g}"',
            *trigger.path,
            "metadata",
            "threshold",
        )


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge the prometheus triggers of a ScaledObject, and (as advice) an HPA's Object and External metrics."""
    if resource.group_kind == HPA:
        yield from _hpa(resource)
        return
    composed = bool(text(resource.at("spec", "advanced", "scalingModifiers", "formula")))
    for trigger in triggers(resource):
        if trigger.type != "prometheus":
            continue
        if trigger.metric_type not in ("AverageValue", "Value"):
            yield violation(
                f"metricType {trigger.metric_type} is refused for a prometheus trigger: write AverageValue or Value",
                *trigger.path,
                "metricType",
            )
            continue
        expression = trigger.expression()
        if expression and not composed:  # a formula has a metricType of its own
            yield from _judge(trigger, expression)


def _hpa(scaler: Resource) -> Iterator[Outcome]:
    for index, row in enumerate(sequence(scaler.at("spec", "metrics"))):
        for key in ("object", "external"):
            metric = mapping(mapping(row).get(key))
            name = text(mapping(metric.get("metric")).get("name")) or ""
            target = text(mapping(metric.get("target")).get("type"))
            if is_vllm_name(name) and is_ratio(name) and target == "AverageValue":
                yield advice(
                    f"{name} looks like a share from 0 to 1, and AverageValue divides it by the number of replicas: "
                    "use type Value, unless the adapter sums it over the pods",
                    "spec",
                    "metrics",
                    index,
                )


RULE = Rule(
    name="autoscale-metric-type",
    title="Shares and latencies are compared as Value, sums as AverageValue",
    source="keda #5781; llm-d-autoscaling #1517, #1094; Kubernetes, HPA algorithm details",
    fix="Set the trigger's metricType to Value for max, avg and percentiles, and to AverageValue for sums.",
    applies_to=(SCALED_OBJECT, HPA),
    check=check,
)
