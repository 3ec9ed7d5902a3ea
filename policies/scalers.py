"""Autoscalers as facts: KEDA ScaledObjects and HorizontalPodAutoscalers, their targets, bounds and triggers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policies import promql
from policies.model import Path, Resource, ResourceSet
from policies.unknowns import NotDecidedError, mapping, sequence, text, whole
from policies.workloads.pods import POD_OWNERS, pod_templates
from policies.workloads.servers import VllmServer, vllm_servers

SCALED_OBJECT = "ScaledObject.keda.sh"
HPA = "HorizontalPodAutoscaler.autoscaling"
# KEDA's own defaults (apis/keda/v1alpha1/scaledobject_types.go), and Kubernetes' for an HPA.
_KEDA_MINIMUM, _KEDA_MAXIMUM, _HPA_MINIMUM = 0, 100, 1


@dataclass(frozen=True)
class Target:
    """What a scaler scales."""

    kind: str
    name: str
    namespace: str


def target(scaler: Resource) -> Target | None:
    """The workload that a scaler names; KEDA takes a Deployment where no kind is stated."""
    reference = mapping(scaler.at("spec", "scaleTargetRef"))
    name = text(reference.get("name"))
    return Target(text(reference.get("kind")) or "Deployment", name, scaler.namespace) if name else None


@lru_cache(maxsize=8)
def _workloads(resources: ResourceSet) -> dict[Target, Resource]:
    return {Target(item.kind, item.name, item.namespace): item for item in resources.of(*POD_OWNERS)}


@lru_cache(maxsize=8)
def _scalers(resources: ResourceSet) -> dict[Target, list[Resource]]:
    found: dict[Target, list[Resource]] = {}
    for scaler in resources.of(SCALED_OBJECT, HPA):
        try:
            wanted = target(scaler)
        except NotDecidedError:
            continue
        if wanted:
            found.setdefault(wanted, []).append(scaler)
    return found


def target_resource(scaler: Resource, resources: ResourceSet) -> Resource | None:
    """The workload itself, where it is among the resources."""
    wanted = target(scaler)
    return _workloads(resources).get(wanted) if wanted else None


def target_servers(scaler: Resource, resources: ResourceSet) -> tuple[VllmServer, ...]:
    """The vLLM servers that a scaler scales, as far as they are among the resources."""
    workload = target_resource(scaler, resources)
    return vllm_servers(workload) if workload else ()


def scalers_of(wanted: Target | Resource, resources: ResourceSet) -> list[Resource]:
    """The scalers of a workload: ScaledObjects first, each kind in the order of the input."""
    if isinstance(wanted, Resource):
        wanted = Target(wanted.kind, wanted.name, wanted.namespace)
    return _scalers(resources).get(wanted, [])


def maximum_replicas(scaler: Resource) -> int | None:
    """The most replicas that a scaler may ask for; None where the manifest states no number."""
    if scaler.group_kind == SCALED_OBJECT:
        stated = scaler.at("spec", "maxReplicaCount")
        return _KEDA_MAXIMUM if stated is None else whole(stated)
    return whole(scaler.at("spec", "maxReplicas"))


def minimum_replicas(scaler: Resource) -> int | None:
    """The fewest replicas that a scaler goes down to, KEDA's idle count included."""
    if scaler.group_kind == HPA:
        stated = scaler.at("spec", "minReplicas")
        return _HPA_MINIMUM if stated is None else whole(stated)
    if scaler.at("spec", "idleReplicaCount") is not None:
        return whole(scaler.at("spec", "idleReplicaCount"))
    stated = scaler.at("spec", "minReplicaCount")
    return _KEDA_MINIMUM if stated is None else whole(stated)


@dataclass(frozen=True)
class Trigger:
    """One trigger of a ScaledObject."""

    type: str
    metadata: dict[str, Any]
    metric_type: str
    path: Path

    @property
    def query(self) -> str | None:
        """The PromQL of a prometheus trigger; None for other types and where it is missing."""
        return text(self.metadata.get("query")) or None if self.type == "prometheus" else None

    def expression(self) -> promql.Expression | None:
        """The query as parsed; None where there is none or where it can't be read."""
        query = self.query
        try:
            return promql.parse(query) if query else None
        except promql.PromqlError:
            return None


def triggers(scaler: Resource) -> list[Trigger]:
    """The triggers of a ScaledObject; none for an HPA."""
    found = []
    for index, row in enumerate(sequence(scaler.at("spec", "triggers"))):
        body = mapping(row)
        found.append(
            Trigger(
                text(body.get("type")) or "",
                mapping(body.get("metadata")),
                text(body.get("metricType")) or "AverageValue",
                ("spec", "triggers", index),
            )
        )
    return found


def vllm_selectors(trigger: Trigger) -> list[promql.Selector]:
    """The selectors of a trigger's query that ask for vLLM's own series."""
    expression = trigger.expression()
    found = promql.selectors(expression) if expression else iter(())
    return [selector for selector in found if is_vllm_name(selector.name)]


def is_vllm_name(metric: str) -> bool:
    """Whether a metric's name is vLLM's, with the colon of Prometheus or the underscore of adapters and mistakes."""
    return metric.startswith(("vllm:", "vllm_"))


def scales_vllm(scaler: Resource, resources: ResourceSet) -> bool:
    """Whether a scaler scales a vLLM server: its target is one here, or its metrics are vLLM's.

    A client or gateway may scale on vLLM's metrics too: a target here without a GPU is no server.
    """
    workload = target_resource(scaler, resources)
    if workload:
        if vllm_servers(workload):
            return True
        pods = pod_templates(workload)
        if not any(container.gpus for pod in pods for container in pod.containers):
            return False
    if any(vllm_selectors(trigger) for trigger in triggers(scaler)):
        return True
    return any(is_vllm_name(name) for name, _ in hpa_metric_names(scaler))


def hpa_metric_names(scaler: Resource) -> list[tuple[str, Path]]:
    """The names of an HPA's Pods, Object and External metrics, as an adapter offers them."""
    found: list[tuple[str, Path]] = []
    for index, row in enumerate(sequence(scaler.at("spec", "metrics"))):
        body = mapping(row)
        for key in ("pods", "object", "external"):
            name = text(mapping(mapping(body.get(key)).get("metric")).get("name"))
            if name:
                found.append((name, ("spec", "metrics", index)))
    return found
