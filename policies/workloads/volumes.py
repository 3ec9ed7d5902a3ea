"""Where /dev/shm and the model cache of a server are."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Any

from policies.model import Path
from policies.unknowns import at, text
from policies.workloads.pods import Container, PodTemplate
from policies.workloads.quantities import gib
from policies.workloads.servers import VllmServer

_TRUE = {"1", "true", "yes", "on"}


@dataclass(frozen=True)
class SharedMemory:
    """What is mounted at /dev/shm. ``size_gib`` is None for a memory volume without a limit of its own."""

    is_memory: bool
    size_gib: float | None
    path: Path


def shared_memory(container: Container) -> SharedMemory | None:
    """The volume at /dev/shm, or None where the container has the runtime's 64 MiB.

    Raises:
        NotDecidedError: the volume is not known yet.
    """
    for row, path in container.mounts:
        if posixpath.normpath(text(row.get("mountPath")) or "/") != "/dev/shm":  # noqa: S108 - the folder is the subject
            continue
        volume = container.pod.volume(row.get("name")) or {}
        empty = volume.get("emptyDir")
        if empty is not None:
            return SharedMemory(text(at(empty, "medium")) == "Memory", gib(at(empty, "sizeLimit")), path)
        host_path = posixpath.normpath(text(at(volume, "hostPath", "path")) or "/")
        return SharedMemory(host_path == "/dev/shm", None, path)  # noqa: S108
    return None


def memory_volumes_gib(pod: PodTemplate, container: Container) -> float:
    """The sizes of the memory volumes that a container mounts; they count against its memory limit."""
    total = 0.0
    names = {text(row.get("name")) for row, _ in container.mounts}
    for name in names:
        empty = (pod.volume(name) or {}).get("emptyDir")
        if text(at(empty, "medium")) == "Memory":
            total += gib(at(empty, "sizeLimit")) or 0.0
    return total


@dataclass(frozen=True)
class Cache:
    """Where a server's downloads go, and the mount that holds the folder (None: the container's own disk)."""

    folder: str
    mount: dict[str, Any] | None


def is_hub_id(model: str) -> bool:
    """Whether a model is named by a Hugging Face id, so that it may be downloaded (and isn't a path or a bucket)."""
    return re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", model) is not None


def is_offline(server: VllmServer) -> bool:
    """Whether the hub client is told to stay offline."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any((server.variable(name) or "").lower() in _TRUE for name in names)


def download_cache(server: VllmServer) -> Cache | None:
    """Where the weights of a hub model go; None where nothing is downloaded (a path, a bucket, offline).

    Raises:
        NotDecidedError: the model or the folder can't be seen here.
    """
    model = server.model
    if not model or not is_hub_id(model) or is_offline(server):
        return None
    folder = server.value("download_dir") or _hub_folder(server)
    return Cache(folder, server.container.mount_at(posixpath.normpath(folder)))


def _hub_folder(server: VllmServer) -> str:
    """As huggingface_hub resolves it: HF_HUB_CACHE, then HF_HOME, then XDG_CACHE_HOME, then the home folder."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if folder := server.variable(name):
            return folder
    if folder := server.variable("HF_HOME"):
        return posixpath.join(folder, "hub")
    if folder := server.variable("XDG_CACHE_HOME"):
        return posixpath.join(folder, "huggingface", "hub")
    image_home = server.version.home if server.version and server.image.is_stock_vllm else "/root"
    return posixpath.join(server.variable("HOME") or image_home, ".cache", "huggingface", "hub")


def writes_refused(cache: Cache, server: VllmServer) -> bool:
    """Whether the cache's volume is mounted read-only (by the mount, or by the claim)."""
    if cache.mount is None:
        return False
    volume = server.pod.volume(cache.mount.get("name")) or {}
    is_configuration = "configMap" in volume or "secret" in volume
    return (
        text(cache.mount.get("readOnly")) == "true"
        or text(at(volume, "persistentVolumeClaim", "readOnly")) == "true"
        or is_configuration
    )
