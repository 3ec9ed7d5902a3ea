"""A query that returns nothing counts as zero for KEDA: an outage of Prometheus scales busy servers down."""

from __future__ import annotations

from collections.abc import Iterator

from policies import promql
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice
from policies.scalers import SCALED_OBJECT, triggers, vllm_selectors
from policies.unknowns import text


def _hides_absence(expression: promql.Expression | None) -> bool:
    """Whether ``or vector(…)`` turns nothing into a number."""
    if not isinstance(expression, promql.Binary):
        return False
    right = expression.right
    is_constant = isinstance(right, promql.Call) and right.function == "vector"
    return (expression.operator == "or" and is_constant) or _hides_absence(expression.left)


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge triggers on vLLM's series."""
    read = [trigger for trigger in triggers(resource) if vllm_selectors(trigger)]
    for trigger in read:
        if _hides_absence(trigger.expression()):
            yield advice(
                "`or vector(…)` hides that the metric is missing, so an outage looks like no load: remove it, and set "
                'ignoreNullValues: "false" with a fallback',
                *trigger.path,
            )
        elif text(trigger.metadata.get("ignoreNullValues")) != "false":
            yield advice(
                "a missing metric counts as 0 (ignoreNullValues is true), so an outage of Prometheus scales down: set "
                'ignoreNullValues: "false" and a fallback',
                *trigger.path,
            )
    if read and resource.at("spec", "fallback") is None:
        yield advice(
            "there is no fallback for when the metric is missing: add fallback with failureThreshold, replicas and "
            "behavior "
            "currentReplicasIfHigher",
            "spec",
        )


RULE = Rule(
    name="keda-missing-data",
    title="A missing metric is no lack of load",
    source="keda #4249, #7671, keda-docs #1812; field-mistakes.md 31",
    fix='Set ignoreNullValues to "false" and state a fallback.',
    applies_to=(SCALED_OBJECT,),
    check=check,
    severity="advisory",
)
