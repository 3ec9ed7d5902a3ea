"""Says what is missing for a build, all of it at once, before anything starts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from toolchain.errors import ToolchainError
from toolchain.tools import Tool


class Machine(NamedTuple):
    """What a build can use."""

    memory_available_gib: float
    disk_free_gib: float
    disk_path: Path


# All tools together, 22 cold minutes, left 14 GiB on linux/amd64: 9.5 Go build cache, 3.5 modules, 1 built tools.
_DISK_GIB_PER_COLD_MINUTE = 0.6
_DISK_GIB_BASE = 1.0


def disk_needed_gib(tools: Sequence[Tool]) -> float:
    """What a cold build of these tools adds on disk. Build time and size of the caches grow with the code compiled."""
    return _DISK_GIB_BASE + _DISK_GIB_PER_COLD_MINUTE * sum(tool.cold_build_minutes for tool in tools)


def problems(tools: Sequence[Tool], machine: Machine) -> list[str]:
    """One sentence for each thing that stands in the way of building these tools on this machine."""
    found = []
    hungriest = max(tools, key=lambda tool: tool.build_memory_gib)
    if machine.memory_available_gib < hungriest.build_memory_gib:
        found.append(
            f"Memory: {machine.memory_available_gib:.1f} GiB are available; linking {hungriest.name} takes up to "
            f"{hungriest.build_memory_gib:g} GiB. End other programs, or build on a larger machine."
        )
    needed = disk_needed_gib(tools)
    if machine.disk_free_gib < needed:
        found.append(
            f"Disk: {machine.disk_free_gib:.1f} GiB are free at {machine.disk_path}; a cold build takes about "
            f"{needed:.0f} GiB. Free some (`python -m toolchain prune`, `go clean -cache`), "
            "or put the caches elsewhere (XDG_CACHE_HOME, GOCACHE, GOMODCACHE)."
        )
    return found


def check(tools: Sequence[Tool], paths: Sequence[Path]) -> None:
    """Raises ToolchainError where these tools can't be built here; `paths` are the folders that a build writes to."""
    if sys.platform != "linux":
        raise ToolchainError(
            f"The toolchain is built on Linux only; this is {sys.platform}.", "Use a Linux machine, a VM or WSL 2."
        )
    found = problems(tools, measure(paths))
    if found:
        names = ", ".join(tool.name for tool in tools)
        raise ToolchainError(f"{names} can't be built on this machine yet.", "\n".join(found))


def measure(paths: Sequence[Path]) -> Machine:
    """What this machine has now; of several file systems, the fullest counts."""
    free, path = min((shutil.disk_usage(_existing(path)).free, path) for path in paths)
    return Machine(_memory_available_gib(Path("/proc/meminfo").read_text()), free / 2**30, path)


def _existing(path: Path) -> Path:
    return next(candidate for candidate in (path, *path.parents) if candidate.exists())


def _memory_available_gib(meminfo: str) -> float:
    """MemAvailable of /proc/meminfo, which gives it in KiB."""
    fields = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    return int(fields["MemAvailable"].split()[0]) / 2**20
