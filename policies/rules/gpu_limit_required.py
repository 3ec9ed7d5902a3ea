"""Extended resources can't be overcommitted: the API server refuses GPUs under requests without an equal limit."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.pods import POD_OWNERS, pod_templates


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Whoever requests GPUs has the same number under limits."""
    for pod in pod_templates(resource):
        for container in (*pod.containers, *pod.init_containers):
            name = container.gpu_resource
            if name is None:
                continue
            requested, limit = container.quantity(name, "requests"), container.quantity(name, "limits")
            if requested is not None and requested != limit:
                stated = "no limit" if limit is None else f"a limit of {limit:g}"
                yield violation(
                    f"container {container.name} requests {requested:g} {name} with {stated}: the API server "
                    f"refuses the pod. Set limits: {{{name}: {requested:g}}}.",
                    *container.path,
                    "resources",
                )


RULE = Rule(
    name="gpu-limit-required",
    title="GPU requests have equal limits",
    source="kubernetes #57170; starwhale #1253; kthena #576",
    fix="Put the GPUs under resources.limits; requests follow by themselves.",
    applies_to=POD_OWNERS,
    check=check,
)
