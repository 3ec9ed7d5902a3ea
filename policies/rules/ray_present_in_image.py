"""Recent stock vLLM images ship no ray command: a start script that calls it exits at once."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.images import image
from policies.workloads.pods import POD_OWNERS, Container, pod_templates
from policies.workloads.servers import commands, servers_in, starts_ray


def _installs_ray(container: Container) -> bool:
    return any(
        "install" in command.words and any(word.startswith("ray") for word in command.words)
        for command, _ in commands(container)
    )


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """No container of a stock image without Ray calls ray, unless it installs it first."""
    for pod in pod_templates(resource):
        executors = {id(server.container) for server in servers_in(pod) if server.uses_ray}
        for container in pod.containers:
            reference = image(container.image)
            version = reference.vllm_version
            if not reference.is_stock_vllm or version is None or version.has_ray_in_image:
                continue
            if (starts_ray(container) or id(container) in executors) and not _installs_ray(container):
                yield violation(
                    f"container {container.name} calls Ray, which {reference.name}:{reference.tag} no longer has. Use "
                    "--nnodes, --node-rank and --master-addr (no Ray), or an image with Ray.",
                    *container.path,
                    "image",
                )


RULE = Rule(
    name="ray-present-in-image",
    title="Ray is called only where the image has it",
    source="lws #835; vllm #39400; production-stack #1056",
    fix="Start the nodes by --nnodes, --node-rank, --master-addr and --headless instead of Ray.",
    applies_to=POD_OWNERS,
    check=check,
)
