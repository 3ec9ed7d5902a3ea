"""A query must filter on labels and values that the scraped series carry; else it returns nothing, without an error."""

from __future__ import annotations

from collections.abc import Iterator

from policies import promql
from policies.label_selectors import pod_labels
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.monitors import endpoints, monitors_of
from policies.scalers import SCALED_OBJECT, target_resource, target_servers, triggers, vllm_selectors
from policies.unknowns import mappings, sequence, text
from policies.workloads.pods import PodTemplate
from policies.workloads.servers import VllmServer

# vLLM's own labels (vllm/v1/metrics/loggers.py; facts/serving.md 1.4) and those that the operator puts on each target.
_VLLM_LABELS = {"model_name", "engine", "finished_reason", "reason", "source", "le", "position", "lora_name"}
_TARGET_LABELS = {"namespace", "pod", "container", "endpoint", "job", "instance", "service", "node"}
# Added by federation and long-term stores, not by the scrape.
_STORE_LABELS = {"cluster", "prometheus", "prometheus_replica", "replica", "region", "environment", "env", "tenant_id"}


def _given_by(monitor: Resource) -> set[str] | None:
    """The labels that a monitor adds to its targets' series; None where a labelmap may add any."""
    given = {
        text(name) or "" for key in ("podTargetLabels", "targetLabels") for name in sequence(monitor.at("spec", key))
    }
    given = {_as_label(name) for name in given}
    for endpoint, _ in endpoints(monitor):
        for key in ("relabelings", "metricRelabelings"):
            for row in mappings(endpoint.get(key)):
                if (text(row.get("action")) or "").lower() == "labelmap":
                    return None
                given.add(text(row.get("targetLabel")) or "")
    return given


def _as_label(name: str) -> str:
    """A Kubernetes label's name as Prometheus writes it."""
    return "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name)


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge each matcher on vLLM's series."""
    workload = target_resource(resource, resources)
    servers = target_servers(resource, resources)
    for trigger in triggers(resource):
        path = (*trigger.path, "metadata", "query")
        for selector in vllm_selectors(trigger):
            for matcher in selector.matchers:
                if matcher.label == "model_name":
                    yield from _model_name(matcher, servers, path)
                elif matcher.label == "namespace":
                    if workload and workload.at("metadata", "namespace") is not None:
                        yield from _value(matcher, [workload.namespace], "the server's namespace", path)
                elif matcher.label not in _VLLM_LABELS | _TARGET_LABELS | _STORE_LABELS:
                    yield from _foreign(matcher, servers, resources, path)


def _model_name(matcher: promql.Matcher, servers: tuple[VllmServer, ...], path: Path) -> Iterator[Outcome]:
    served = sorted({server.served_model_names[0] for server in servers if server.served_model_names})
    if served:
        yield from _value(matcher, served, "the served model name", path)


def _value(matcher: promql.Matcher, values: list[str], what: str, path: Path) -> Iterator[Outcome]:
    if values and all(matcher.accepts(value) is False for value in values):
        yield violation(
            f'the query filters {matcher.label}{matcher.operator}"{matcher.value}", and {what} is '
            f'{" or ".join(values)}, so it returns nothing: write {matcher.label}="{values[0]}"',
            *path,
        )


def _foreign(
    matcher: promql.Matcher, servers: tuple[VllmServer, ...], resources: ResourceSet, path: Path
) -> Iterator[Outcome]:
    """A label that neither vLLM nor the scrape gives: only a monitor can add it."""
    if matcher.accepts("") is not False:
        return  # series without the label pass
    pods = {server.pod for server in servers}
    monitors = [monitor for pod in pods for monitor in monitors_of(pod, resources)]
    given = [_given_by(monitor) for monitor in monitors]
    if any(labels is None or matcher.label in labels for labels in given):
        yield from _copied_value(matcher, pods, monitors, path)
        return
    # Scrape configurations from elsewhere may copy the pods' labels, and nothing else.
    could_copy = not servers or any(matcher.accepts(value) is not False for value in _pod_values(matcher.label, pods))
    report = advice if could_copy and not monitors else violation
    yield report(
        f"the query filters on the label {matcher.label}, which vLLM's series do not have (they have model_name, "
        f"namespace, pod, …) unless a monitor adds it: filter on model_name and namespace, or add {matcher.label} to "
        "podTargetLabels",
        *path,
    )


def _pod_values(label: str, pods: set[PodTemplate]) -> list[str]:
    """The values that the pods carry under a label's name as Prometheus writes it."""
    return [text(value) or "" for pod in pods for key, value in pod_labels(pod).items() if _as_label(key) == label]


def _copied_value(
    matcher: promql.Matcher, pods: set[PodTemplate], monitors: list[Resource], path: Path
) -> Iterator[Outcome]:
    """A label that podTargetLabels copies must have a value that the pods carry."""
    names = [text(name) or "" for monitor in monitors for name in sequence(monitor.at("spec", "podTargetLabels"))]
    if matcher.label in {_as_label(name) for name in names}:
        yield from _value(matcher, _pod_values(matcher.label, pods), f"the pods' label {matcher.label}", path)


RULE = Rule(
    name="autoscale-metric-labels",
    title="The query filters on labels that the series carry",
    source="the article's `app` filter; kthena #868; case keda-wrong-label-value; field-mistakes.md 31",
    fix="Filter on model_name (the served name) and namespace, which every scraped vLLM series carries.",
    applies_to=(SCALED_OBJECT,),
    check=check,
    scope="set",
)
