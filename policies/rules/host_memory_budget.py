"""Shared memory, offloaded weights and KV caches in host memory all count against the container's memory limit."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import number
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import VllmServer, json_value, vllm_servers
from policies.workloads.volumes import memory_volumes_gib

_GB_IN_GIB = 1e9 / 2**30
# vLLM pins the offload buffer in powers of two: 1.92 times the size asked for was seen (vllm #53042).
_OFFLOAD_WORST_CASE = 1.92


def _number(server: VllmServer, dest: str) -> float:
    return number(server.value(dest)) or 0.0 if server.is_set(dest) else 0.0


def _kv_offload_gib(server: VllmServer) -> float:
    """KV cache in host memory, of the whole pod: --kv-offloading-size is the total of all ranks."""
    gib = _number(server, "kv_offloading_size")
    if server.is_set("kv_transfer_config"):
        extra = json_value(server.value("kv_transfer_config")).get("kv_connector_extra_config")
        if isinstance(extra, dict):
            gib += (number(extra.get("cpu_bytes_to_use")) or 0.0) / 2**30
    return gib


def _parts_gib(server: VllmServer) -> dict[str, float]:
    ranks = max(server.ranks_in_pod, 1)
    local = number(server.variable("LMCACHE_MAX_LOCAL_CPU_SIZE")) or 0.0
    return {
        "memory volumes": memory_volumes_gib(server.pod, server.container),
        f"LMCache ({ranks:g} ranks × {local:g} GB)": ranks * local * _GB_IN_GIB,
        "--cpu-offload-gb a rank": ranks * _number(server, "cpu_offload_gb"),
        "--swap-space a rank": ranks * _number(server, "swap_space"),
        "KV offload": _kv_offload_gib(server),
    }


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """What a server keeps in host memory fits its memory limit."""
    for server in vllm_servers(resource):
        limit_gib = server.container.memory_limit_gib
        if limit_gib is None:
            continue
        parts = {name: size for name, size in _parts_gib(server).items() if size}
        total_gib = sum(parts.values())
        stated = " + ".join(f"{name} {size:.0f} GiB" for name, size in parts.items())
        place = (*server.container.path, "resources")
        if total_gib > limit_gib:
            yield violation(
                f"container {server.container.name} keeps {stated} = {total_gib:.0f} GiB in host memory under a "
                f"limit of {limit_gib:.0f} GiB: it is killed. Raise resources.limits.memory, or keep less.",
                *place,
            )
        elif total_gib + (_OFFLOAD_WORST_CASE - 1) * parts.get("KV offload", 0.0) > limit_gib:
            yield advice(
                f"container {server.container.name}: the KV offload buffer was seen to take {_OFFLOAD_WORST_CASE} "
                f"times its size; {stated} then exceeds the limit of {limit_gib:.0f} GiB.",
                *place,
            )


RULE = Rule(
    name="host-memory-budget",
    title="Shared memory, offload and caches fit the memory limit",
    source="LMCache #792, #949, #2901; vllm #52656, #53042; kserve #1842",
    fix="Raise the memory limit above shm + offload + caches of all ranks.",
    applies_to=POD_OWNERS,
    check=check,
)
