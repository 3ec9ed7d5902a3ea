"""Peers of a multi-node engine meet before any of them is ready: their headless Service must list unready pods."""

from __future__ import annotations

from collections.abc import Iterator

from policies.label_selectors import equal_labels
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import text
from policies.workloads.pods import Container, pod_templates
from policies.workloads.scaling import declared_replicas
from policies.workloads.servers import is_multi_node, starts_ray


def _forms_a_group(workload: Resource) -> bool:
    containers: list[Container] = [row for pod in pod_templates(workload) for row in pod.containers]
    ray_peers = declared_replicas(workload) > 1 and any(starts_ray(container) for container in containers)
    return is_multi_node(workload) or ray_peers


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """The headless Service of a multi-node StatefulSet publishes unready addresses."""
    if text(resource.at("spec", "clusterIP")) != "None":
        return
    if text(resource.at("spec", "publishNotReadyAddresses")) == "true":
        return
    for workload in resources.of("StatefulSet.apps"):
        if workload.namespace != resource.namespace:
            continue
        governs = text(workload.at("spec", "serviceName")) == resource.name
        selector = resource.at("spec", "selector")
        labels = pod_templates(workload)[0].labels
        if (governs or (selector and equal_labels(selector, labels))) and _forms_a_group(workload):
            yield violation(
                f"the pods of {workload.label} find each other through Service/{resource.name}, which lists ready pods "
                "only, and none gets ready before they have met. Set publishNotReadyAddresses: true.",
                "spec",
            )


RULE = Rule(
    name="headless-publish-not-ready",
    title="The headless Service of a multi-node engine publishes unready peers",
    source="aibrix #1441; sglang #5553",
    fix="Set spec.publishNotReadyAddresses: true on the headless Service.",
    applies_to=("Service",),
    check=check,
    scope="set",
)
