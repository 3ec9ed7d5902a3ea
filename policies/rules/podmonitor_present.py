"""Where a scaler reads vLLM's metrics, something must scrape them: the Prometheus operator reads no pod annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.label_selectors import pod_labels, selects
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.monitors import POD_MONITOR, VllmPod, monitors_of, vllm_pods_of
from policies.prometheus import context_text, operator_run
from policies.scalers import SCALED_OBJECT, scalers_of, triggers, vllm_selectors
from policies.unknowns import text
from policies.workloads.pods import POD_OWNERS

_SCRAPE_ANNOTATION = "prometheus.io/scrape"
# The Services that the operator, or its chart, makes for Prometheus.
_OPERATORS_ADDRESS = re.compile(r"prometheus-operated|kube-prometheus")
# Other ways to scrape pods, which are not followed here.
_OTHER_SCRAPERS = (
    "ScrapeConfig.monitoring.coreos.com",
    "VMPodScrape.operator.victoriametrics.com",
    "VMServiceScrape.operator.victoriametrics.com",
    "PodMonitoring.monitoring.googleapis.com",
    "ClusterPodMonitoring.monitoring.googleapis.com",
    "OpenTelemetryCollector.opentelemetry.io",
)


def _addresses(resource: Resource, resources: ResourceSet) -> list[str]:
    """The Prometheus addresses that the workload's scalers ask for vLLM's series; none where none does."""
    found = []
    for scaler in scalers_of(resource, resources):
        if scaler.group_kind == SCALED_OBJECT:
            for trigger in triggers(scaler):
                if vllm_selectors(trigger):
                    found.append(text(trigger.metadata.get("serverAddress")) or "")
    return found


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge workloads whose scaler asks Prometheus for their own series."""
    addresses = _addresses(resource, resources)
    mine = vllm_pods_of(resource, resources) if addresses else []
    if not mine or any(True for _ in resources.of(*_OTHER_SCRAPERS)):
        return
    if any(monitors_of(vllm.pod, resources) for vllm in mine):
        return
    annotated = any(text(vllm.pod.annotations.get(_SCRAPE_ANNOTATION)) == "true" for vllm in mine)
    by_operator = bool(operator_run(resources))
    if annotated and context_text(resources) and not by_operator:
        return  # a Prometheus that is told to be without the operator may read the annotations
    certain = by_operator or (annotated and any(_OPERATORS_ADDRESS.search(address) for address in addresses))
    report = violation if certain else advice
    ignored = f", and the operator does not read {_SCRAPE_ANNOTATION} annotations" if annotated else ""
    yield report(
        "a scaler reads this server's vllm: series, and no PodMonitor or ServiceMonitor here selects its "
        f"pods{ignored}{_near_miss(mine, resources)}: the query stays empty. Add a PodMonitor for them",
        *mine[0].pod.path,
    )


def _near_miss(mine: list[VllmPod], resources: ResourceSet) -> str:
    for monitor in resources.of(POD_MONITOR):
        if any(selects(monitor.at("spec", "selector"), pod_labels(vllm.pod)) for vllm in mine):
            return f" ({monitor.label} would, but looks into another namespace: set its namespaceSelector)"
    return ""


RULE = Rule(
    name="podmonitor-present",
    title="The metrics that a scaler reads are scraped",
    source="velero chart #609; kube-prometheus-stack README, prometheus.io/scrape; field-mistakes.md 35",
    fix="Add a PodMonitor that selects the server's pods and names its metrics port.",
    applies_to=POD_OWNERS,
    check=check,
    scope="set",
)
