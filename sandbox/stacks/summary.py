"""What a person wants to know after an ``up``: what runs where, and what to do next."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from sandbox.api import Api, Object
from sandbox.control_plane import Sandbox
from sandbox.stacks.workspace import REPOSITORY, Workspace

# The HPA controller looks every 2 s here, and simulated pods start in one or two.
PATIENCE_SECONDS = 20


def pod_lines(pods: Iterable[Object]) -> list[str]:
    """One line a pod: name, node, GPUs, and why it waits where it does."""
    return [_pod_line(pod) for pod in sorted(pods, key=lambda pod: pod["metadata"]["name"])]


def _pod_line(pod: Object) -> str:
    gpus = sum(
        int(container.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0))
        for container in pod["spec"]["containers"]
    )
    node = pod["spec"].get("nodeName")
    conditions = {entry["type"]: entry for entry in pod.get("status", {}).get("conditions", [])}
    if node is None:
        reason = conditions.get("PodScheduled", {}).get("message", "not scheduled yet")
        return f"  {pod['metadata']['name']}  Pending: {reason}"
    ready = conditions.get("Ready", {}).get("status") == "True"
    state = "done" if pod["status"].get("phase") == "Succeeded" else "ready" if ready else "starting"
    return f"  {pod['metadata']['name']}  {state} on {node}{f', {gpus} GPUs' if gpus else ''}"


def wait_for_least_replicas(api: Api, namespace: str) -> None:
    """Until each autoscaler's target has its least replicas, or ``PATIENCE_SECONDS`` are over: the pods then tell."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        least = {
            scaled["spec"]["scaleTargetRef"]["name"]: int(scaled["spec"]["minReplicaCount"])
            for scaled in api.items(f"/apis/keda.sh/v1alpha1/namespaces/{namespace}/scaledobjects")
        }
        deployments = api.items(f"/apis/apps/v1/namespaces/{namespace}/deployments")
        ready = {item["metadata"]["name"]: item.get("status", {}).get("readyReplicas", 0) for item in deployments}
        if all(ready.get(name, 0) >= count for name, count in least.items()):
            return
        time.sleep(0.2)


def closing_summary(sandbox: Sandbox, workspace: Workspace) -> str:
    """The lines that end ``make up``, once the autoscalers have brought their least replicas."""
    outputs = json.loads(workspace.ask(["stack", "output", "--json"]))
    namespace = outputs["namespace"]
    with sandbox.api() as api:
        wait_for_least_replicas(api, namespace)
        pods = api.items(f"/api/v1/namespaces/{namespace}/pods")
    choice = "" if workspace.stack == "sandbox" else f" STACK={workspace.stack}"
    kubeconfig = sandbox.kubeconfig
    shown = kubeconfig.relative_to(REPOSITORY) if kubeconfig.is_relative_to(REPOSITORY) else kubeconfig
    return "\n".join(
        [
            "",
            f"In namespace {namespace}:",
            *pod_lines(pods),
            *(f"  {name}: {endpoint} (inside the cluster)" for name, endpoint in outputs["endpoints"].items()),
            "The nodes and containers are simulated: placement and state are real, nothing answers on the endpoint.",
            f"Kubeconfig: {shown}",
            "Next:",
            f"  KUBECONFIG={shown} .venv/bin/kubectl -n {namespace} get pods -o wide",
            f"  make preview{choice}    what a change of stacks/Pulumi.{workspace.stack}.yaml would do",
            f"  make destroy{choice}    delete what the stack made; make down ends the sandbox too",
        ]
    )
