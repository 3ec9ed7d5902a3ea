"""The volumes of a vLLM pod: shared memory, the model cache, and a writable home for the compile caches."""

from __future__ import annotations

from typing import Any

from components.model_server_plan import ModelServerPlan

# torch.compile, Triton and FlashInfer keep compiled kernels under ~/.cache; a few GiB in practice.
COMPILE_CACHE_GIB = 20


def volumes(plan: ModelServerPlan, claim_name: str) -> list[dict[str, Any]]:
    """The pod's ``volumes``."""
    found: list[dict[str, Any]] = [
        {"name": "model-cache", "persistentVolumeClaim": {"claimName": claim_name}},
        # The runtime's own /dev/shm has 64 MB; NCCL and the workers' message queues need gigabytes.
        {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{plan.shm_gib}Gi"}},
    ]
    if plan.args.version.run_as_user is not None:
        found.append({"name": "home-cache", "emptyDir": {"sizeLimit": f"{COMPILE_CACHE_GIB}Gi"}})
    return found


def volume_mounts(plan: ModelServerPlan) -> list[dict[str, Any]]:
    """The container's ``volumeMounts``.

    For a non-root user ~/.cache is a volume of its own: as the parent of a mount the kubelet would make it root's.
    """
    cache = f"{plan.args.version.home}/.cache"
    mounts: list[dict[str, Any]] = [
        {"mountPath": f"{cache}/huggingface", "name": "model-cache"},
        {"mountPath": "/dev/shm", "name": "dshm"},  # noqa: S108 - a mount path in a container
    ]
    if plan.args.version.run_as_user is not None:
        mounts.insert(0, {"mountPath": cache, "name": "home-cache"})
    return mounts
