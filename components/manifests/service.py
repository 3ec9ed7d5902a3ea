"""The Service in front of a model server's ready pods."""

from __future__ import annotations

from typing import Any

from components.labels import object_labels, selector_labels
from components.manifests.vllm_arguments import PORT
from components.model_server_plan import ModelServerPlan


def service_body(plan: ModelServerPlan) -> dict[str, Any]:
    """The Service object, named as the model server."""
    name = plan.args.name
    return {
        "metadata": {"name": name, "namespace": plan.namespace, "labels": object_labels(name, "model-server")},
        "spec": {
            "type": "ClusterIP",
            "selector": selector_labels(name),
            "ports": [{"name": "http", "port": PORT, "targetPort": "http"}],
        },
    }
