"""What makes Prometheus scrape a model server's pods."""

from __future__ import annotations

from typing import Any

from components.labels import object_labels, selector_labels
from components.model_server_plan import ModelServerPlan


def pod_monitor_body(plan: ModelServerPlan) -> dict[str, Any]:
    """The PodMonitor object. kube-prometheus-stack reads no scrape annotations and selects by the label ``release``."""
    name = plan.args.name
    labels = {**object_labels(name, "model-server"), "release": plan.release_label}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {"name": name, "namespace": plan.namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": selector_labels(name)},
            "podMetricsEndpoints": [{"port": "http", "path": "/metrics", "interval": "15s"}],
        },
    }
