"""Take a node out of the cluster as an administrator does: cordon, evict its pods, delete it."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable

from sandbox.api import MERGE, Api, ApiError, Object

EVICTION_SECONDS = 20.0
"""How long a PodDisruptionBudget may hold a node's pods back; then the node goes, as a reclaimed instance would."""


def drain(api: Api, name: str, report: Callable[[str], None]) -> None:
    """Cordon the node, evict its pods (disruption budgets count), then delete it and what is left on it."""
    api.request("PATCH", f"/api/v1/nodes/{name}", {"spec": {"unschedulable": True}}, MERGE)
    deadline = time.monotonic() + EVICTION_SECONDS
    while (pods := _evictable_pods(api, name)) and time.monotonic() < deadline:
        for pod in pods:
            _evict(api, pod)
        time.sleep(0.2)
    if pods:
        held = ", ".join(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods)
        report(f"Node {name}: a disruption budget holds {held}; the node goes anyway after {EVICTION_SECONDS:.0f} s")
    api.delete(f"/api/v1/nodes/{name}")
    for pod in _pods(api, name):
        api.delete(_path(pod), grace_period_seconds=0)


def _pods(api: Api, node: str) -> list[Object]:
    return api.items(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")


def _evictable_pods(api: Api, node: str) -> list[Object]:
    """All but a DaemonSet's pods: its controller would make them again at once."""
    return [
        pod
        for pod in _pods(api, node)
        if not any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))
    ]


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _evict(api: Api, pod: Object) -> None:
    metadata = {key: pod["metadata"][key] for key in ("namespace", "name")}
    try:
        api.request(
            "POST", f"{_path(pod)}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        )
    except ApiError as error:
        # Held back by a disruption budget, or gone already: the next look tells.
        if error.status not in (http.client.TOO_MANY_REQUESTS, http.client.NOT_FOUND):
            raise
