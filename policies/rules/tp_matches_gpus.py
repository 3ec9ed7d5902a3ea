"""The ranks that vLLM starts in a pod are the GPUs that the pod gets: fewer idle, more hang."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, undecided, violation
from policies.workloads.pods import LEADER_WORKER_SET, POD_OWNERS
from policies.workloads.servers import VllmServer, vllm_servers


def _sizes(server: VllmServer) -> str:
    sizes = f"TP {server.tensor_parallel_size} × PP {server.pipeline_parallel_size}"
    if server.data_parallel_local > 1:
        sizes += f" × DP {server.data_parallel_local}"
    return sizes + (f" over {server.nodes} pods" if server.spans_nodes else "")


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """TP × PP × DP local to the pod equals the GPUs of the container."""
    for server in vllm_servers(resource):
        container, ranks = server.container, server.ranks_in_pod
        if container.claims_devices or container.has_other_accelerator or server.is_set("omni"):
            continue  # the claim, or vLLM-Omni's stage file, says how many devices and ranks there are
        if container.gpus == 0:
            if ranks > 1:
                yield advice(f"container {container.name} starts {_sizes(server)} and requests no GPU.", *server.path)
            continue
        if ranks == container.gpus:
            continue
        elsewhere = server.uses_ray and resource.group_kind != LEADER_WORKER_SET and ranks > container.gpus
        if elsewhere:
            yield undecided(
                f"not decided yet: {_sizes(server)} on Ray may use GPUs of pods that aren't seen here", *server.path
            )
            continue
        yield violation(
            f"container {container.name} starts {_sizes(server)} = {ranks:g} ranks in a pod with {container.gpus} "
            "GPUs: "
            + (f"{container.gpus - ranks:g} stay idle. " if ranks < container.gpus else "the engine can't start. ")
            + f"Set --tensor-parallel-size so that the product is {container.gpus}, or request {ranks:g} GPUs.",
            *server.path,
        )


RULE = Rule(
    name="tp-matches-gpus",
    title="TP × PP × DP of a pod equals its GPUs",
    source="kserve #4946, #5773, #5782; modelexpress #251",
    fix="Make tensor × pipeline × data parallel size in the pod equal to its nvidia.com/gpu limit.",
    applies_to=POD_OWNERS,
    check=check,
)
