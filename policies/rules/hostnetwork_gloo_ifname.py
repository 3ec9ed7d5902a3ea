"""On the host network a pod's name is the node's, which resolves to 127.0.0.1: peers then dial themselves."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, undecided, violation
from policies.unknowns import text
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import vllm_servers

_VARIABLES = ("GLOO_SOCKET_IFNAME", "VLLM_HOST_IP")


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A multi-node pod on the host network says which interface or address it has."""
    for server in vllm_servers(resource):
        if not server.spans_nodes or text(server.pod.spec.get("hostNetwork")) != "true":
            continue
        if any(server.environment.get(name) for name in _VARIABLES):
            continue
        name = server.container.name
        if server.container.has_environment_from:
            yield undecided(f"not decided yet: envFrom of container {name} may set {' or '.join(_VARIABLES)}")
            continue
        yield violation(
            f"container {name} of a multi-node engine is on the host network without {' or '.join(_VARIABLES)}: Gloo "
            "advertises 127.0.0.1. Set VLLM_HOST_IP from status.podIP, or GLOO_SOCKET_IFNAME to the node's interface.",
            *server.container.path,
        )


RULE = Rule(
    name="hostnetwork-gloo-ifname",
    title="A multi-node pod on the host network names its interface or address",
    source="aws-samples/aws-do-eks #50, #69",
    fix="Set VLLM_HOST_IP from status.podIP, or GLOO_SOCKET_IFNAME to the node's interface.",
    applies_to=POD_OWNERS,
    check=check,
)
