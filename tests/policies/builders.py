"""Small manifests and resources for rule tests, and ``judge``, which runs one rule over them."""

from __future__ import annotations

import datetime
import json
from typing import Any

from policies.configuration import Configuration
from policies.evaluate import findings
from policies.loading import parse
from policies.model import Finding, Resource, ResourceSet
from policies.registry import rules

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine puts where a preview does not know a value."""
TODAY = datetime.date(2026, 11, 29)
Object = dict[str, Any]


def load(*objects: Object) -> list[Resource]:
    """Manifests (with ``kind``) and resources (with ``type``) as rules see them, ``UNKNOWN`` values as unknown."""
    rows = [item if "type" in item else _row(item) for item in objects]
    return parse(json.dumps(rows), "input.json")


def _row(manifest: Object) -> Object:
    token = f"kubernetes:{manifest['apiVersion']}:{manifest['kind']}"
    return {"type": token, "name": manifest["metadata"]["name"], "properties": manifest}


def found(rule: str, *objects: Object, context: Object | None = None) -> list[Finding]:
    """The findings of one rule over some objects."""
    return findings([rules()[rule]], ResourceSet(load(*objects), context), Configuration(), TODAY)


def judge(rule: str, *objects: Object, context: Object | None = None) -> list[str]:
    """The same in short: ``violation ScaledObject/chat``, sorted."""
    return sorted(f"{item.verdict} {item.object}" for item in found(rule, *objects, context=context))


def manifest(api_version: str, kind: str, name: str, spec: Any, **metadata: Any) -> Object:
    """A manifest in the namespace ``llm``."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "llm", **metadata},
        "spec": spec,
    }


def server(name: str = "chat", *arguments: str, version: str = "0.33.0", gpus: int = 1, **changes: Any) -> Object:
    """A Deployment of vLLM with the label app; ``changes``: ports, pod_annotations, namespace, replicas."""
    container = {
        "name": "vllm",
        "image": f"vllm/vllm-openai:v{version}",
        "args": ["Qwen/Qwen3-8B", *arguments],
        "ports": changes.get("ports", [{"name": "http", "containerPort": 8000}]),
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
    }
    template = {
        "metadata": {"labels": {"app": name}, "annotations": changes.get("pod_annotations", {})},
        "spec": {"containers": [container]},
    }
    spec: Object = {"selector": {"matchLabels": {"app": name}}, "template": template}
    if "replicas" in changes:
        spec["replicas"] = changes["replicas"]
    return manifest("apps/v1", "Deployment", name, spec, namespace=changes.get("namespace", "llm"))


def web(name: str = "shop") -> Object:
    """A Deployment without a GPU or a model."""
    container = {"name": "web", "image": "nginx:1.27", "ports": [{"name": "http", "containerPort": 80}]}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    return manifest("apps/v1", "Deployment", name, {"selector": {"matchLabels": {"app": name}}, "template": template})


def group(name: str = "chat", size: int = 2, gpus: int = 8) -> Object:
    """A LeaderWorkerSet of vLLM over ``size`` nodes."""
    container = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.33.0",
        "args": ["Qwen/Qwen3-235B-A22B", f"--tensor-parallel-size={gpus}", f"--nnodes={size}"],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "leaderWorkerTemplate": {"size": size, "workerTemplate": template}}
    return manifest("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, spec)


WAITING = 'sum(vllm:num_requests_waiting{namespace="llm"})'


def trigger(query: str = WAITING, **changes: Any) -> Object:
    """A prometheus trigger; ``metric_type`` beside the metadata, the rest into it (None removes a field)."""
    metric_type = changes.pop("metric_type", None)
    metadata = {"serverAddress": "http://prometheus-operated.monitoring.svc:9090", "query": query, "threshold": "5"}
    metadata = {key: value for key, value in {**metadata, **changes}.items() if value is not None}
    return {"type": "prometheus", "metadata": metadata} | ({"metricType": metric_type} if metric_type else {})


def scaled_object(*triggers: Object, target: str = "chat", name: str = "", **spec: Any) -> Object:
    """A ScaledObject on a Deployment, one to four replicas unless ``spec`` says otherwise (None removes a field)."""
    body = {
        "scaleTargetRef": {"name": target},
        "minReplicaCount": 1,
        "maxReplicaCount": 4,
        "triggers": list(triggers or (trigger(),)),
    }
    body = {key: value for key, value in {**body, **spec}.items() if value is not None}
    return manifest("keda.sh/v1alpha1", "ScaledObject", name or target, body)


def hpa(*metrics: Object, target: str = "chat", name: str = "", **spec: Any) -> Object:
    """A HorizontalPodAutoscaler on a Deployment."""
    body: Object = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target},
        "minReplicas": 1,
        "maxReplicas": 4,
        **spec,
    }
    if metrics:
        body["metrics"] = list(metrics)
    return manifest("autoscaling/v2", "HorizontalPodAutoscaler", name or target, body)


def host_metric(resource: str = "cpu") -> Object:
    """An HPA's metric on CPU or memory."""
    target = {"type": "Utilization", "averageUtilization": 50}
    return {"type": "Resource", "resource": {"name": resource, "target": target}}


def pod_metric(name: str = "vllm_num_requests_waiting") -> Object:
    """An HPA's metric of the pods, under an adapter's name."""
    target = {"type": "AverageValue", "averageValue": "5"}
    return {"type": "Pods", "pods": {"metric": {"name": name}, "target": target}}


def pod_monitor(name: str = "chat", *, labels: Object | None = None, **changes: Any) -> Object:
    """A PodMonitor on the label app; ``changes``: endpoint, selector, namespace, and further fields of its spec."""
    endpoint = changes.pop("endpoint", {"port": "http", "path": "/metrics"})
    selector = changes.pop("selector", {"matchLabels": {"app": name}})
    namespace = changes.pop("namespace", "llm")
    spec = {"selector": selector, "podMetricsEndpoints": [endpoint], **changes}
    metadata: Object = {"namespace": namespace} | ({"labels": labels} if labels is not None else {})
    return manifest("monitoring.coreos.com/v1", "PodMonitor", name, spec, **metadata)


def service(name: str = "chat", *, selector: Object | None = None, **metadata: Any) -> Object:
    """A Service on the label app with one port called http."""
    spec = {
        "selector": {"app": name} if selector is None else selector,
        "ports": [{"name": "http", "port": 8000, "targetPort": "http"}],
    }
    return manifest("v1", "Service", name, spec, **metadata)


def route(timeouts: Object | None = None, *, backend: str = "chat", path: str = "/v1", port: int = 8000) -> Object:
    """An HTTPRoute with one rule."""
    rule: Object = {
        "matches": [{"path": {"type": "PathPrefix", "value": path}}],
        "backendRefs": [{"name": backend, "port": port}],
    }
    if timeouts is not None:
        rule["timeouts"] = timeouts
    spec = {"parentRefs": [{"name": "edge", "namespace": "gateway"}], "rules": [rule]}
    return manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "chat", spec)


def traffic_policy(name: str = "chat", **spec: Any) -> Object:
    """Envoy Gateway's BackendTrafficPolicy on the HTTPRoute ``chat``."""
    reference = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "chat"}
    body = {"targetRefs": [reference], **spec}
    return manifest("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", name, body)


# AWS ---------------------------------------------------------------------------------------------------------------


def nics(*entries: tuple[int, int, str], **each: Any) -> list[Object]:
    """Network interfaces from (card, device, type)."""
    return [
        {"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind, "securityGroups": ["sg-efa"], **each}
        for card, device, kind in entries
    ]


def efa_nics(cards: int) -> list[Object]:
    """AWS's own layout: an ENA interface, an EFA beside it, and an EFA on every further card."""
    return nics((0, 0, "interface"), (0, 1, "efa-only"), *((card, 0, "efa-only") for card in range(1, cards)))


def launch_template(name: str = "gpu", instance_type: Any = "p5.48xlarge", **properties: Any) -> Object:
    """A launch template with a large encrypted root volume."""
    volume = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": 500, "encrypted": "true"}}
    body = {"instanceType": instance_type, "blockDeviceMappings": [volume], **properties}
    body = {key: value for key, value in body.items() if value is not None}
    return {"type": "aws:ec2/launchTemplate:LaunchTemplate", "name": name, "properties": body}


def node_group(name: str = "gpu", *, template: Any = "gpu", **properties: Any) -> Object:
    """A managed node group of two nodes; ``template`` None leaves the launch template out."""
    body = {
        "clusterName": "inference",
        "subnetIds": ["subnet-az-a"],
        "scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": 2},
        "amiType": "AL2023_x86_64_NVIDIA",
        **({"launchTemplate": {"id": template, "version": "1"}} if template is not None else {}),
        **properties,
    }
    body = {key: value for key, value in body.items() if value is not None}
    return {"type": "aws:eks/nodeGroup:NodeGroup", "name": name, "properties": body}


def release(chart: str, values: Any = None, **properties: Any) -> Object:
    """A Helm release of the Kubernetes provider, named like its chart."""
    body = {"namespace": "system", "values": values or {}, "chart": chart, **properties}
    return {"type": "kubernetes:helm.sh/v3:Release", "name": chart, "properties": body}


LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate/gpu"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup/gpu"
