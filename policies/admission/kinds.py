"""Which kinds admission judges, as the API server's resource rules name them."""

from __future__ import annotations

from typing import Any

from policies.workloads.pods import LEADER_WORKER_SET

# Group, version and plural by the name that Rule.applies_to uses. Not here: kinds that hold their pods elsewhere or in
# a form of their own (Rollout, RayCluster, RayService, RayJob, InferenceService); the pods they make are judged.
_RESOURCES = {
    "Pod": ("", "v1", "pods"),
    "Deployment.apps": ("apps", "v1", "deployments"),
    "StatefulSet.apps": ("apps", "v1", "statefulsets"),
    "DaemonSet.apps": ("apps", "v1", "daemonsets"),
    "ReplicaSet.apps": ("apps", "v1", "replicasets"),
    "Job.batch": ("batch", "v1", "jobs"),
    "CronJob.batch": ("batch", "v1", "cronjobs"),
    LEADER_WORKER_SET: ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
    "ScaledObject.keda.sh": ("keda.sh", "v1alpha1", "scaledobjects"),
    "HorizontalPodAutoscaler.autoscaling": ("autoscaling", "v2", "horizontalpodautoscalers"),
}


def resource_rules(applies_to: tuple[str, ...]) -> list[dict[str, Any]]:
    """The resource rules of a policy: subresources (scale, status) are not among them."""
    return [
        {
            "apiGroups": [group],
            "apiVersions": [version],
            "operations": ["CREATE", "UPDATE"],
            "resources": [plural],
            "scope": "Namespaced",
        }
        for kind, (group, version, plural) in _RESOURCES.items()
        if kind in applies_to
    ]
