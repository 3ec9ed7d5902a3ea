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
    hidden = [trigger for trigger in read if _hides_absence(trigger.expression())]
    for trigger in hidden:
        yield advice(
            "`or vector(…)` hides that the metric is missing, so an outage looks like no load: remove it",
            *trigger.path,
            "metadata",
            "query",
        )
    as_zero = [trigger for trigger in read if text(trigger.metadata.get("ignoreNullValues")) != "false"]
    has_fallback = resource.at("spec", "fallback") is not None
    if as_zero or (read and not has_fallback):
        why = "counts as 0 (ignoreNullValues is true)" if as_zero else "stops the scaler where it stands"
        add = " and ".join(
            (['ignoreNullValues: "false" on the triggers'] if as_zero else [])
            + ([] if has_fallback else ["a fallback with behavior currentReplicasIfHigher"])
        )
        yield advice(f"a missing metric {why} when Prometheus is down: state {add}", *(as_zero or read)[0].path)


RULE = Rule(
    name="keda-missing-data",
    title="A missing metric is no lack of load",
    source="keda #4249, #7671, keda-docs #1812; field-mistakes.md 31",
    fix='Set ignoreNullValues to "false" and state a fallback.',
    applies_to=(SCALED_OBJECT,),
    check=check,
    severity="advisory",
)
