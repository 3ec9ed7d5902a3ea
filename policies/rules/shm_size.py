# ruff: noqa: S108 - the folder is the subject
"""GPU ranks of one pod talk through /dev/shm; the runtime's 64 MiB stop NCCL at start."""

from __future__ import annotations

import math
from collections.abc import Iterator

from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import text
from policies.workloads.pods import POD_OWNERS, RAY_KINDS, Container, pod_templates
from policies.workloads.servers import is_vllm_container, vllm_servers
from policies.workloads.volumes import shared_memory
from sizing.shm import required_shm_gib


def _ranks(resource: Resource) -> Iterator[tuple[Container, int]]:
    """Each container of an engine with its ranks: by a server's flags, else by its GPUs (a Ray follower)."""
    servers = {id(server.container): server for server in vllm_servers(resource)}
    for pod in pod_templates(resource):
        for container in pod.containers:
            server = servers.get(id(container))
            if container.has_other_accelerator:
                continue
            if server is not None:
                yield container, math.ceil(server.ranks_in_pod)
            elif container.gpus > 1 and is_vllm_container(container):
                yield container, container.gpus


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """Each container with several ranks has a memory volume at /dev/shm that is large enough for them."""
    for container, ranks in _ranks(resource):
        if ranks <= 1 or text(container.pod.spec.get("hostIPC")) == "true":
            continue
        volume = shared_memory(container)
        needed_gib = parameters["gib_per_rank"] * ranks
        remedy = f"mount an emptyDir with medium: Memory and sizeLimit: {required_shm_gib(ranks)}Gi at /dev/shm"
        if volume is None:
            if resource.group_kind not in RAY_KINDS:  # KubeRay mounts a memory volume of its own
                yield violation(
                    f"container {container.name} runs {ranks} GPU ranks on the runtime's 64 MiB of /dev/shm: {remedy}.",
                    *container.path,
                )
        elif not volume.is_memory:
            yield violation(
                f"/dev/shm of container {container.name} ({ranks} GPU ranks) is no memory volume: {remedy}.",
                *volume.path,
            )
        elif volume.size_gib is not None and volume.size_gib < parameters["tolerance"] * needed_gib:
            yield violation(
                f"/dev/shm of container {container.name} has {volume.size_gib:g} GiB for {ranks} GPU ranks, which need "
                f"{needed_gib:g}: {remedy}.",
                *volume.path,
            )
        elif volume.size_gib is not None and volume.size_gib < needed_gib:
            yield advice(
                f"/dev/shm of container {container.name} has {volume.size_gib:g} GiB, a little under the "
                f"{needed_gib:g} for {ranks} GPU ranks.",
                *volume.path,
            )


RULE = Rule(
    name="shm-size",
    title="/dev/shm is a memory volume large enough for the GPU ranks",
    source="vllm #1710, #37982, #49568; production-stack #97, #276; llm-d #352; the blueprint's 16 GiB",
    fix="Mount an emptyDir with medium: Memory and sizeLimit: 16Gi for each eight ranks at /dev/shm.",
    applies_to=POD_OWNERS,
    check=check,
    parameters={
        # The article's 16 GiB serve a node's eight ranks; llm-d #352 filled 3 GiB with NCCL's segments alone.
        "gib_per_rank": Parameter(2, "number", "GiB of /dev/shm that one GPU rank needs"),
        # LeaderWorkerSet's example runs eight ranks on 15 GiB.
        "tolerance": Parameter(0.9, "number", "share of the need under which it is a violation"),
    },
)
