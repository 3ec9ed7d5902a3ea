"""A Service called vllm makes the kubelet set VLLM_PORT=tcp://… in its namespace, which vLLM reads as its own port."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import text
from policies.workloads.pods import POD_OWNERS, RAY_KINDS, PodTemplate, pod_templates
from policies.workloads.servers import is_engine_container, is_vllm_container

SERVICE_NAME = "vllm"
VARIABLE = "VLLM_PORT"
_HEAD_SERVICE = {
    "RayCluster.ray.io": ("spec", "headGroupSpec", "headService", "metadata", "name"),
    "RayService.ray.io": ("spec", "rayClusterConfig", "headGroupSpec", "headService", "metadata", "name"),
    "RayJob.ray.io": ("spec", "rayClusterSpec", "headGroupSpec", "headService", "metadata", "name"),
}


def is_injected(service: Resource) -> bool:
    """Whether the kubelet makes variables of a Service: not of a headless one, nor of an external name."""
    return text(service.at("spec", "clusterIP")) != "None" and text(service.at("spec", "type")) != "ExternalName"


def is_protected(pod: PodTemplate) -> bool:
    """Whether the variable can't hurt a pod: links are off, or each vLLM container sets it itself."""
    if text(pod.spec.get("enableServiceLinks")) == "false":
        return True
    containers = [container for container in pod.containers if is_vllm_container(container)]
    return bool(containers) and all(container.environment_row(VARIABLE) for container in containers)


def _vllm_pods(resources: ResourceSet) -> list[PodTemplate]:
    return [
        pod
        for workload in resources.of(*POD_OWNERS)
        for pod in pod_templates(workload)
        if any(is_engine_container(container) for container in pod.containers)
    ]


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """No Service is called vllm where a vLLM pod would take its variables."""
    if resource.group_kind in RAY_KINDS:
        place = _HEAD_SERVICE[resource.group_kind]
        if text(resource.at(*place)) != SERVICE_NAME:
            return
        pods = list(pod_templates(resource))
    else:
        place = ("metadata", "name")
        if resource.name != SERVICE_NAME or not is_injected(resource):
            return
        pods = _vllm_pods(resources)
    message = (
        f"a Service called {SERVICE_NAME} sets {VARIABLE}=tcp://… in the pods of namespace {resource.namespace}: vLLM "
        "refuses to start. Rename it, or set enableServiceLinks: false in every vLLM pod."
    )
    protected = bool(pods) and all(pod.resource.namespace != resource.namespace or is_protected(pod) for pod in pods)
    yield advice(message, *place) if protected else violation(message, *place)


RULE = Rule(
    name="service-name-vllm",
    title="No Service is called vllm",
    source="vllm #18209, #34199; LLMKube #358, #361",
    fix="Give the Service another name, for example vllm-api.",
    applies_to=("Service", *RAY_KINDS),
    check=check,
    scope="set",
)
