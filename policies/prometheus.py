"""Which Prometheus reads the monitors: from the context, a kube-prometheus-stack install, or Prometheus objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from policies.helm import HELM_KINDS, HelmInstall, helm_install
from policies.label_selectors import selects
from policies.model import Resource, ResourceSet
from policies.monitors import POD_MONITOR
from policies.unknowns import NotDecidedError, Unknown, is_unknown, mapping, text

PROMETHEUS_KINDS = ("Prometheus.monitoring.coreos.com", "PrometheusAgent.monitoring.coreos.com")
_CHART = "kube-prometheus-stack"
_OPERATOR = re.compile(r"kube-prometheus|operator", re.IGNORECASE)
_RELEASE = re.compile(r"release['\"]?(?:\s+name)?\s*[:=]?\s*['\"]?(?!labels?\b)([a-z0-9][-a-z0-9.]*)", re.IGNORECASE)
_TAKES_ALL = re.compile(
    r"NilUsesHelmValues['\"]?\s*[:=]?\s*(is\s+)?['\"]?false|(select|take)s?\s+(all|every|any)|"
    r"(all|any|every) (pod|service)?\s?monitors?|(open|empty) selectors?",
    re.IGNORECASE,
)
_MATCH_LABELS = re.compile(r"matchLabels\W+([\w./-]+)['\"]?\s*[:=]\s*['\"]?([\w.-]+)")
_NAMESPACE = re.compile(r"namespace\W+(?!selector)([a-z0-9][-a-z0-9]*)", re.IGNORECASE)

Answer = Literal["yes", "no", "unknown"]


@dataclass(frozen=True)
class Prometheus:
    """One Prometheus that the operator runs. ``release`` is what its default selectors want as label ``release``."""

    what: str
    takes_all: bool = False
    release: str | None = None
    pod_selector: Any = None
    service_selector: Any = None
    namespace: str | None = None

    def reads(self, monitor: Resource) -> Answer:
        """Whether it takes a monitor, by the monitor's labels."""
        if self.takes_all:
            return "yes"
        own = self.pod_selector if monitor.group_kind == POD_MONITOR else self.service_selector
        if is_unknown(own):
            return "unknown"
        if own is not None:
            return "yes" if selects(own, monitor.labels) else "no"
        label = text(monitor.labels.get("release"))
        if self.release is None:
            return "unknown" if label else "no"
        return "yes" if label == self.release else "no"

    def wants(self, monitor: Resource) -> str:
        """What a monitor needs, for a message."""
        own = self.pod_selector if monitor.group_kind == POD_MONITOR else self.service_selector
        if own is None:
            return f"the label release: {self.release or 'with the name of the Helm release'}"
        labels = mapping(mapping(own).get("matchLabels"))
        return (
            "the labels " + ", ".join(f"{key}: {text(value)}" for key, value in labels.items())
            if labels
            else "other labels"
        )


def context_text(resources: ResourceSet) -> str:
    """What the context says about Prometheus, as text; empty where it says nothing."""
    return str(resources.context.get("prometheus") or "")


def operator_run(resources: ResourceSet) -> list[Prometheus]:
    """Every Prometheus that the operator runs here, as far as context and resources tell."""
    return [*_from_context(resources), *_from_helm(resources), *_from_objects(resources)]


def _from_context(resources: ResourceSet) -> Iterator[Prometheus]:
    """What the context's ``prometheus`` tells, a sentence or a mapping."""
    written = context_text(resources)
    if not _OPERATOR.search(written):
        return
    labels = _MATCH_LABELS.search(written)
    selector = {"matchLabels": {labels[1]: labels[2]}} if labels else None
    release, namespace = _RELEASE.search(written), _NAMESPACE.search(written)
    yield Prometheus(
        "the cluster's Prometheus",
        takes_all=bool(_TAKES_ALL.search(written)),
        release=release[1] if release else None,
        pod_selector=selector,
        service_selector=selector,
        namespace=namespace[1] if namespace else None,
    )


def _from_helm(resources: ResourceSet) -> Iterator[Prometheus]:
    for resource in resources.of(*HELM_KINDS):
        try:
            install = helm_install(resource)
        except NotDecidedError:
            continue
        if install and install.chart == _CHART:
            yield _of_install(resource, install)


def _of_install(resource: Resource, install: HelmInstall) -> Prometheus:
    pod, service = (_selector_of(install, kind) for kind in ("podMonitor", "serviceMonitor"))
    release = resource.at("name") if not resource.is_kubernetes else resource.at("spec", "releaseName") or resource.name
    namespace = resource.at("namespace") if not resource.is_kubernetes else resource.namespace
    return Prometheus(
        f"the Prometheus of {resource.name}",
        release=None if is_unknown(release) else text(release),
        pod_selector=pod,
        service_selector=service,
        namespace=None if is_unknown(namespace) else text(namespace),
    )


def _selector_of(install: HelmInstall, kind: str) -> Any:
    """The selector that the chart renders; None where that is its default, the release's label."""
    base = ("prometheus", "prometheusSpec")
    own = install.value(*base, f"{kind}Selector", default={})
    if is_unknown(own):
        return own
    if mapping(own):
        return own
    uses_release = install.value(*base, f"{kind}SelectorNilUsesHelmValues", default=True)
    if is_unknown(uses_release):
        return Unknown(f"{kind}SelectorNilUsesHelmValues")
    return {} if text(uses_release) == "false" else None


def _from_objects(resources: ResourceSet) -> Iterator[Prometheus]:
    for resource in resources.of(*PROMETHEUS_KINDS):
        none = {
            "matchExpressions": [{"key": "never", "operator": "In", "values": []}]
        }  # a missing selector takes nothing
        found = []
        for key in ("podMonitorSelector", "serviceMonitorSelector"):
            selector = resource.at("spec", key)
            found.append(none if selector is None else selector)
        yield Prometheus(resource.label, pod_selector=found[0], service_selector=found[1], namespace=resource.namespace)
