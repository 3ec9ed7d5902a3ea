"""A monitor must carry the labels that Prometheus selects monitors by; without them it is ignored without an error."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, undecided, violation
from policies.monitors import MONITORS, selected_pods, vllm_among
from policies.prometheus import operator_run


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge a monitor against every Prometheus that is known; without one, only a missing label can be pointed out."""
    known = operator_run(resources)
    answers = [prometheus.reads(resource) for prometheus in known]
    if "yes" in answers:
        return
    if known and "unknown" not in answers:
        yield violation(
            f"{known[0].what} takes monitors with {known[0].wants(resource)}, and this one has {_written(resource)}, "
            "so it is ignored: add it",
            "metadata",
            "labels",
        )
    elif known and resource.labels.get("release") is None:
        yield undecided("not decided yet: the labels that Prometheus selects monitors by are not known", "metadata")
    elif not known and "release" not in resource.labels and _watches_vllm(resource, resources):
        yield advice(
            "it has no label release, and kube-prometheus-stack ignores such monitors unless "
            "podMonitorSelectorNilUsesHelmValues is false: add release: with the name of its Helm release",
            "metadata",
            "labels",
        )


def _written(resource: Resource) -> str:
    release = resource.labels.get("release")
    return f"release: {release}" if release else "no label release" if resource.labels else "no labels"


def _watches_vllm(resource: Resource, resources: ResourceSet) -> bool:
    return bool(vllm_among(selected_pods(resource, resources), resources))


RULE = Rule(
    name="podmonitor-labels",
    title="Prometheus selects the monitor",
    source="prometheus-operator #3636; helm-charts #1097, #1631; dynamo #12003; field-mistakes.md 35",
    fix="Give the monitor the labels of Prometheus' podMonitorSelector (by default release: with the Helm release's "
    "name).",
    applies_to=MONITORS,
    check=check,
    scope="set",
)
