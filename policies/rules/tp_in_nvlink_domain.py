"""Tensor parallelism all-reduces in every layer: it belongs inside one NVLink domain."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.workloads.nodes import placement
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import VllmServer, engines


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """No tensor-parallel group leaves its pod, and its GPUs have NVLink between them."""
    for server in engines(resource):
        tensor = server.tensor_parallel_size
        if tensor <= 1 or (server.container.gpu_resource or "").startswith("amd.com/"):
            continue
        gpus = server.container.gpus
        if server.spans_nodes and 0 < gpus < tensor:
            yield violation(
                f"tensor parallelism {tensor} spans {server.nodes} pods of {gpus} GPUs: every layer's all-reduce "
                f"leaves NVLink. Set --tensor-parallel-size {gpus} and --pipeline-parallel-size {-(-tensor // gpus)}.",
                *server.path,
            )
            continue
        yield from _on_its_nodes(server, tensor)


def _on_its_nodes(server: VllmServer, tensor: int) -> Iterator[Outcome]:
    place = placement(server.pod)
    if place.instance_types:
        too_small = [row for row in place.instance_types if row.gpus and row.nvlink_domain_gpus < tensor]
        candidates = len(place.instance_types)
        names = ", ".join(f"{row.name} ({row.gpu}, NVLink domain of {row.nvlink_domain_gpus})" for row in too_small)
    else:
        no_link = [row for row in place.gpus if not row.has_nvlink]
        candidates = len(place.gpus)
        too_small = [*no_link]  # type: ignore[list-item]
        names = ", ".join(f"{row.name} (PCIe)" for row in no_link)
    if not too_small:
        return
    message = (
        f"tensor parallelism {tensor} runs over PCIe or across NVLink domains on {names}. Use a p-family instance, or "
        "one GPU a replica and more replicas."
    )
    all_of_them = len(too_small) == candidates
    yield violation(message, *server.path) if all_of_them else advice(message, *server.path)


RULE = Rule(
    name="tp-in-nvlink-domain",
    title="Tensor parallelism stays inside one NVLink domain",
    source="vllm #7074, #13719, #56128; kserve #4946",
    fix="Set the tensor parallel size to the GPUs of one NVLink domain; cross nodes by pipeline parallelism.",
    applies_to=POD_OWNERS,
    check=check,
)
