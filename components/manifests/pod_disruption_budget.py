"""How many replicas a drain may take at once."""

from __future__ import annotations

from typing import Any

from components.labels import object_labels, selector_labels
from components.model_server_plan import ModelServerPlan


def pod_disruption_budget_body(plan: ModelServerPlan) -> dict[str, Any]:
    """One pod at a time, also at one replica: ``minAvailable: 1`` would block every drain there."""
    name = plan.args.name
    return {
        "metadata": {"name": name, "namespace": plan.namespace, "labels": object_labels(name, "model-server")},
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": selector_labels(name)},
            # A pod that never became ready protects nobody and would block the drain of its node.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
