"""vLLM pods switch service links off, so that no Service's name becomes a VLLM_… variable."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.rules.service_name_vllm import SERVICE_NAME, VARIABLE, is_injected, is_protected
from policies.workloads.pods import POD_OWNERS, pod_templates
from policies.workloads.servers import is_engine_container


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """enableServiceLinks is false; leaving it on is a violation where a Service called vllm is beside the pod."""
    service = resources.named("Service", SERVICE_NAME, resource.namespace)
    is_exposed = service is not None and is_injected(service)
    for pod in pod_templates(resource):
        if not any(is_engine_container(container) for container in pod.containers) or is_protected(pod):
            continue
        if is_exposed:
            yield violation(
                f"the pod takes {VARIABLE}=tcp://… from Service/{SERVICE_NAME} and vLLM refuses to start: set "
                "enableServiceLinks: false.",
                *pod.spec_path,
            )
        else:
            yield advice(
                f"set enableServiceLinks: false: a Service called {SERVICE_NAME} in this namespace would stop the "
                "server.",
                *pod.spec_path,
            )


RULE = Rule(
    name="service-links-off",
    title="vLLM pods take no variables from Services",
    source="vllm #18209, #34199; LLMKube #358, #361",
    fix="Set enableServiceLinks: false in the pod's spec.",
    applies_to=POD_OWNERS,
    check=check,
    scope="set",
)
