"""The KEDA ScaledObject: queue depth and KV-cache usage, never CPU (facts/serving.md section 3).

Replicas wanted are the most that any trigger asks for. AverageValue: ceil(query / threshold). Value:
ceil(ready replicas × query / threshold). A ratio needs Value: as AverageValue 1 / 0.85 never asks for more than two.
"""

from __future__ import annotations

from typing import Any

from components.labels import object_labels
from components.model_server_plan import ModelServerPlan


def scaled_object_body(plan: ModelServerPlan, max_replicas: int, prometheus_address: str) -> dict[str, Any]:
    """The ScaledObject object.

    Raises:
        ValueError: the model server has no autoscaler section.
    """
    scaler = plan.args.autoscaler
    if scaler is None:
        raise ValueError(f"{plan.args.name} has no autoscaler")
    version = plan.args.version
    # Labels that a scrape through the PodMonitor really has: the pod's namespace, and vLLM's own model_name.
    labels = f'namespace="{plan.namespace}",model_name="{plan.args.model}"'
    waiting = f"sum({version.metric('requests_waiting')}{{{labels}}})"
    usage = f"max({version.metric('kv_cache_usage')}{{{labels}}})"
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {
            "name": scaler.name,
            "namespace": plan.namespace,
            "labels": object_labels(plan.args.name, "autoscaler"),
        },
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": plan.args.name},
            "minReplicaCount": scaler.min_replicas,
            "maxReplicaCount": max_replicas,
            "pollingInterval": scaler.polling_interval_seconds,
            # No data must not read as no load: the number of replicas is kept until the metrics are back.
            "fallback": {
                "failureThreshold": 3,
                "replicas": scaler.min_replicas,
                "behavior": "currentReplicasIfHigher",
            },
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": _behavior(plan)}},
            "triggers": [
                _trigger(
                    "waiting-requests",
                    prometheus_address,
                    waiting,
                    str(plan.waiting_requests_per_replica),
                    "AverageValue",
                ),
                _trigger("kv-cache-usage", prometheus_address, usage, f"{scaler.kv_cache_usage:g}", "Value"),
            ],
        },
    }


def _trigger(name: str, address: str, query: str, threshold: str, metric_type: str) -> dict[str, Any]:
    return {
        "type": "prometheus",
        "name": name,
        "metricType": metric_type,
        "metadata": {
            "serverAddress": address,
            "query": query,
            "threshold": threshold,
            "ignoreNullValues": "false",
        },
    }


def _behavior(plan: ModelServerPlan) -> dict[str, Any]:
    """One replica at a time: up no faster than a replica starts (the queue grows while it loads), down slowly."""
    scaler = plan.args.autoscaler
    assert scaler is not None
    # Kubernetes allows at most 1800 s for a policy's period.
    start_seconds = min(1800, plan.startup_failure_threshold * 10)
    return {
        "scaleUp": {
            "stabilizationWindowSeconds": scaler.scale_up_window_seconds,
            "policies": [{"type": "Pods", "value": 1, "periodSeconds": min(300, start_seconds)}],
        },
        "scaleDown": {
            "stabilizationWindowSeconds": scaler.scale_down_window_seconds,
            "policies": [{"type": "Pods", "value": 1, "periodSeconds": 300}],
        },
    }
