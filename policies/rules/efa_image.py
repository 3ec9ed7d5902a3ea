"""EFA needs aws-ofi-nccl in the image: the stock vLLM image has none, and NCCL then uses TCP without an error."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import text
from policies.workloads.nodes import placement
from policies.workloads.pods import EFA_RESOURCE, POD_OWNERS
from policies.workloads.servers import VllmServer, vllm_servers


def _wants_efa(server: VllmServer) -> bool:
    """Whether the pod asks for EFA, or is part of a multi-node engine on EC2 with no other fabric."""
    container = server.container
    if container.quantity(EFA_RESOURCE, "limits") or container.quantity(EFA_RESOURCE, "requests"):
        return True
    return server.spans_nodes and not container.rdma_devices and bool(placement(server.pod).instance_types)


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A pod that uses EFA has an image with the EFA stack, or mounts the stack under /opt/amazon."""
    for server in vllm_servers(resource):
        mounts_stack = any(
            (text(row.get("mountPath")) or "").startswith("/opt/amazon") for row, _ in server.container.mounts
        )
        if server.image.is_stock_vllm and not mounts_stack and _wants_efa(server):
            yield violation(
                f"container {server.container.name} needs EFA, and {server.image.repository} has no aws-ofi-nccl: NCCL "
                "would use TCP without an error. Use AWS's deep learning container for vLLM, or build vLLM's own "
                "EFA image.",
                *server.container.path,
                "image",
            )


RULE = Rule(
    name="efa-image",
    title="A pod on EFA has the EFA stack in its image",
    source="vllm #11139; aicr #2275; facts: aws-ofi-nccl is absent from vllm/vllm-openai",
    fix="Use AWS's deep learning container for vLLM, or an image built from vLLM's Dockerfile.efa.",
    applies_to=POD_OWNERS,
    check=check,
)
