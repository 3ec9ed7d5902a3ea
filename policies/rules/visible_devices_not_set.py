"""The device plugin owns NVIDIA_VISIBLE_DEVICES: set by hand, a container sees GPUs that belong to another pod."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.pods import POD_OWNERS, pod_templates

_NAME = "NVIDIA_VISIBLE_DEVICES"
_HIDES = {"void", "none", ""}


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A container that gets GPUs from the plugin doesn't set NVIDIA_VISIBLE_DEVICES."""
    for pod in pod_templates(resource):
        for container in pod.containers:
            row = container.environment_row(_NAME)
            if row is None or container.gpus == 0 or container.environment.get(_NAME) in _HIDES:
                continue
            yield violation(
                f"container {container.name} gets {container.gpus} GPUs from the device plugin and sets {_NAME} "
                "by hand: it then sees other GPUs than its own. Remove the variable.",
                *row[1],
            )


RULE = Rule(
    name="visible-devices-not-set",
    title="NVIDIA_VISIBLE_DEVICES is left to the device plugin",
    source="NVIDIA/k8s-device-plugin #87, #1294",
    fix="Remove NVIDIA_VISIBLE_DEVICES from the container's env.",
    applies_to=POD_OWNERS,
    check=check,
)
