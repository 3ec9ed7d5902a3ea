"""Gloo takes interface names; the exclusion lists of NCCL (^lo,docker) are a name that doesn't exist."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.environment import variable
from policies.workloads.pods import POD_OWNERS, pod_templates


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """GLOO_SOCKET_IFNAME names interfaces (several by commas), without NCCL's ^ and =."""
    for pod in pod_templates(resource):
        for container in pod.containers:
            value, path = variable(container, "GLOO_SOCKET_IFNAME")
            if value and value.lstrip().startswith(("^", "=")):
                yield violation(
                    f"GLOO_SOCKET_IFNAME of container {container.name} is {value!r}: Gloo looks for an interface "
                    "of that name. Name one interface, for example eth0.",
                    *path,
                )


RULE = Rule(
    name="gloo-ifname-concrete",
    title="GLOO_SOCKET_IFNAME names an interface",
    source="aws-samples/aws-do-eks #50, #51",
    fix="Set GLOO_SOCKET_IFNAME to one interface name; exclusion lists are for NCCL_SOCKET_IFNAME only.",
    applies_to=POD_OWNERS,
    check=check,
)
