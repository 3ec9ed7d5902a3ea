"""vLLM serves its metrics on /metrics of the API port, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.monitors import MONITORS, POD_MONITOR, endpoints, selected_pods, vllm_among
from policies.unknowns import mappings, text

_PATH = "/metrics"


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge endpoints that scrape the vLLM container itself; a sidecar may serve its metrics where it likes."""
    selected = vllm_among(selected_pods(resource, resources), resources)
    if not selected:
        return
    own_ports = {
        text(row.get("name")) for vllm in selected for row in mappings(vllm.server.container.body.get("ports"))
    }
    for endpoint, path in endpoints(resource):
        written = text(endpoint.get("path"))
        if written in (None, "", _PATH):
            continue
        if resource.group_kind == POD_MONITOR and text(endpoint.get("port")) not in own_ports:
            continue
        if resource.group_kind != POD_MONITOR and any(len(vllm.pod.containers) > 1 for vllm in selected):
            continue
        yield violation(
            f"it scrapes {written}, and vLLM serves its metrics on {_PATH}: write path: {_PATH}", *path, "path"
        )


RULE = Rule(
    name="podmonitor-metrics-path",
    title="The monitor scrapes vLLM's metrics page",
    source="vLLM documentation, Production metrics; issue 6 (the scrape path that Prometheus really uses)",
    fix="Write path: /metrics in the monitor's endpoint.",
    applies_to=MONITORS,
    check=check,
    scope="set",
)
