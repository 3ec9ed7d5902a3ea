"""KEDA takes at most one series from a query: with two pods, a bare metric returns two and the trigger fails."""

from __future__ import annotations

from collections.abc import Iterator

from policies import promql
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, undecided, violation
from policies.scalers import SCALED_OBJECT, maximum_replicas, triggers

# Labels that tell the pods of one server apart; a series for each model or namespace may well be one.
_POD_LABELS = frozenset(
    {"pod", "instance", "node", "engine", "le", "replica", "endpoint", "pod_name", "host", "hostname"}
)
_ONE_POD = frozenset({"pod", "instance"})


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge queries of scalers that may run more than one replica."""
    if maximum_replicas(resource) in (0, 1):
        return
    for trigger in triggers(resource):
        query = trigger.query
        if query is None:
            continue
        path = (*trigger.path, "metadata", "query")
        try:
            varying = promql.varying(promql.parse(query))
        except promql.PromqlError as error:
            yield undecided(f"not decided yet: the query can't be read as PromQL ({error})", *path)
            continue
        if varying.is_one:
            continue
        if varying.all_but:
            if not varying.labels & _ONE_POD:
                yield violation(
                    'the query returns one series for each pod, and KEDA refuses more than one ("returned multiple '
                    f'elements"): write sum({query}) or max({query})',
                    *path,
                )
            continue
        kept = ", ".join(sorted(varying.labels))
        report = violation if varying.labels & _POD_LABELS else advice
        yield report(
            f"the query keeps the label{'s' if len(varying.labels) > 1 else ''} {kept}, so it returns a series for "
            "each value, and KEDA refuses more than one: aggregate without by, or match the label with =",
            *path,
        )


RULE = Rule(
    name="keda-query-single-series",
    title="A KEDA query returns one series",
    source="keda pkg/scalers/prometheus_scaler.go, line 274 (v2.20.2); production-stack values-19-keda.yaml",
    fix="Wrap the query in sum() or max(), without by.",
    applies_to=(SCALED_OBJECT,),
    check=check,
)
