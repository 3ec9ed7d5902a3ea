"""Main memory of one pod: what its processes hold, /dev/shm, and room for the page cache that loading fills."""

from __future__ import annotations

from dataclasses import dataclass

from sizing.shm import required_shm_gib

# Estimates, not measured here: a rank's process (Python, CUDA context, NCCL, pinned buffers), and the API server with
# its tokenizer and engine core.
_RANK_GIB = 6
_SERVER_GIB = 8
# The share of a node that pods may limit themselves to; the rest is the system's and the daemons'.
_NODE_SHARE = 0.9


@dataclass(frozen=True)
class HostMemory:
    """Kubernetes memory request and limit of a pod, GiB."""

    request_gib: int
    limit_gib: int
    reason: str


def host_memory(ranks: int, checkpoint_gib: float, *, node_gib: float | None = None, node_gpus: int = 1) -> HostMemory:
    """Memory for a pod of ``ranks`` GPUs that reads ``checkpoint_gib`` GiB of weights.

    The request is what the pod can't give back. The limit adds the files' page cache (the kernel charges it to the pod
    and reclaims it under pressure, which slows loading), up to the pod's share of a node of ``node_gib`` GiB.
    """
    shm = required_shm_gib(ranks)
    request = _SERVER_GIB + _RANK_GIB * ranks + shm
    limit = request + round(checkpoint_gib)
    if node_gib is not None:
        limit = max(request, min(limit, int(node_gib * _NODE_SHARE * min(1.0, ranks / node_gpus))))
    reason = (
        f"{ranks} rank(s) of {_RANK_GIB} GiB, server {_SERVER_GIB} GiB, /dev/shm {shm} GiB; "
        f"limit with page cache for {checkpoint_gib:.0f} GiB of weights"
    )
    return HostMemory(request, limit, reason)
