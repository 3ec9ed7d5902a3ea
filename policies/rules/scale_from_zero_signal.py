"""A scaler that goes down to zero needs a signal that exists at zero: the pods' own metrics are gone with the pods."""

from __future__ import annotations

from collections.abc import Iterator

from policies import promql
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.scalers import (
    HPA,
    SCALED_OBJECT,
    Trigger,
    hpa_metric_names,
    is_vllm_name,
    minimum_replicas,
    scales_vllm,
    triggers,
)

# Triggers on the pods' own use; KEDA itself refuses to wake a workload by them.
_OWN_RESOURCES = {"cpu", "memory"}


def _exists_at_zero(trigger: Trigger) -> bool:
    if trigger.type in _OWN_RESOURCES:
        return False
    if trigger.type != "prometheus":
        return True
    expression = trigger.expression()
    if expression is None:
        return True  # nothing there, or not readable: other rules say so
    names = [selector.name for selector in promql.selectors(expression)]
    return any(not is_vllm_name(name) for name in names) or _asks_for_absence(expression)


def _asks_for_absence(expression: promql.Expression) -> bool:
    if isinstance(expression, promql.Call):
        return expression.function.startswith("absent") or any(_asks_for_absence(item) for item in expression.arguments)
    if isinstance(expression, promql.Binary):
        return _asks_for_absence(expression.left) or _asks_for_absence(expression.right)
    return isinstance(expression, promql.Aggregation) and _asks_for_absence(expression.operand)


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge scalers of vLLM servers whose lowest count is zero (KEDA's default)."""
    if minimum_replicas(resource) != 0 or not scales_vllm(resource, resources):
        return
    if resource.group_kind == HPA:
        names = [name for name, _ in hpa_metric_names(resource)]
        wakes = any(not is_vllm_name(name) for name in names)
    else:
        wakes = not triggers(resource) or any(_exists_at_zero(trigger) for trigger in triggers(resource))
    if wakes:
        return
    key = "minReplicas" if resource.group_kind == HPA else "minReplicaCount"
    stated = "is 0" if resource.at("spec", key) is not None else "is not set, which means 0"
    if resource.at("spec", "idleReplicaCount") is not None:
        key, stated = "idleReplicaCount", "is 0"
    yield violation(
        f"{key} {stated}, and every trigger reads a metric of the scaled pods, which is gone when they are: the first "
        "request never wakes a pod. Set the minimum to 1, or add a trigger on the gateway's queue",
        "spec",
        key,
    )


RULE = Rule(
    name="scale-from-zero-signal",
    title="Scaling to zero has a signal that exists at zero",
    source="llm-d #2492; production-stack #679, #781, #985",
    fix="Set the minimum to 1, or add a trigger on a metric of the gateway.",
    applies_to=(SCALED_OBJECT, HPA),
    check=check,
    scope="set",
)
