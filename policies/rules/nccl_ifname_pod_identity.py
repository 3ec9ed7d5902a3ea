"""On the host network NCCL also sees the Pod Identity agent's link-local interface, which no other node reaches."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import sequence, text
from policies.workloads.environment import variable
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import vllm_servers

_AGENT = "eks-pod-identity-agent"
_INTERFACE = "pod-id-link0"


def _agent_runs(resources: ResourceSet) -> bool | None:
    """Whether the agent runs: by the context's add-ons or an Addon resource; None where nobody says."""
    if any(text(addon.at("addonName")) == _AGENT for addon in resources.of("aws:eks/addon:Addon")):
        return True
    addons = resources.context.get("addons")
    if addons is None:
        return None
    return any(_AGENT in (text(addon) or "") for addon in sequence(addons))


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """An exclusion list in NCCL_SOCKET_IFNAME covers pod-id-link0 where the agent runs."""
    for server in vllm_servers(resource):
        if not server.spans_nodes or text(server.pod.spec.get("hostNetwork")) != "true":
            continue
        value, path = variable(server.container, "NCCL_SOCKET_IFNAME")
        value = value if value is not None else server.environment.get("NCCL_SOCKET_IFNAME")
        if not value or not value.startswith("^"):
            continue
        exact = value.startswith("^=")
        excluded = [name.strip() for name in value.lstrip("^=").split(",")]
        if any(name == _INTERFACE or (name and not exact and _INTERFACE.startswith(name)) for name in excluded):
            continue
        runs = _agent_runs(resources)
        message = (
            f"NCCL_SOCKET_IFNAME of container {server.container.name} excludes interfaces but not {_INTERFACE}: with "
            f"{_AGENT} on the node NCCL dials 169.254.170.23 on its peer. Add pod-id-link0 to the list."
        )
        if runs:
            yield violation(message, *path)
        elif runs is None:
            yield advice(message, *path)


RULE = Rule(
    name="nccl-ifname-pod-identity",
    title="NCCL's exclusion list covers the Pod Identity interface",
    source="aws-samples/aws-do-eks #54",
    fix="Write NCCL_SOCKET_IFNAME: ^lo,docker,veth,eni,pod-id-link0, or name the interface.",
    applies_to=POD_OWNERS,
    check=check,
    scope="set",
)
