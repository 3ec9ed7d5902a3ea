"""How long a server takes from container start to its first healthy answer, by where its weights lie.

Rates are assumptions, one named constant each; none was measured here. Budgets take the slowest case that a server may
meet (an empty cache filled from the hub) with a margin, since a probe that is too short kills every start.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from catalog.models import Model
from sizing.number_formats import GIB
from sizing.weights import checkpoint_gib

CacheKind = Literal["page-cache", "local-nvme", "fsx-lustre", "s3", "efs", "ebs-gp3", "hub"]

# GB (1e9 bytes) a second into one pod.
LOAD_GB_PER_SECOND: dict[CacheKind, float] = {
    "page-cache": 6.0,  # weights still in the node's memory: bounded by copies to the GPUs
    "local-nvme": 3.0,  # instance store RAID 0, one reading pod
    "fsx-lustre": 2.3,  # 4,800 GiB at 500 MB/s a TiB (facts/aws.md section 6)
    "s3": 1.0,  # mountpoint or parallel download in the region
    "efs": 0.5,  # elastic throughput, one client
    "ebs-gp3": 0.25,  # 250 MB/s provisioned; the default 125 halves it
    "hub": 0.25,  # 2 Gbit/s from the internet
}
# Imports, process start, NCCL, torch.compile, the profile run and graph capture.
ENGINE_START_SECONDS = 150
_BUDGET_MARGIN = 1.2
# Two replicas that start together share the line to the hub; every other cache kind reads at its own rate.
_SHARED_DOWNLOADS = 2
_SMALLEST_BUDGET_SECONDS = 600


def cache_kinds() -> tuple[CacheKind, ...]:
    """Every cache kind, the fastest first."""
    return get_args(CacheKind)


def load_seconds(model: Model, kind: CacheKind) -> float:
    """Seconds from container start to ready with the weights on ``kind``."""
    return checkpoint_gib(model) * GIB / 1e9 / LOAD_GB_PER_SECOND[kind] + ENGINE_START_SECONDS


def startup_budget_seconds(model: Model, kind: CacheKind = "hub") -> int:
    """Seconds that a startup probe (and every timeout above it) must allow, in whole minutes."""
    downloads = _SHARED_DOWNLOADS if kind == "hub" else 1
    reading = (load_seconds(model, kind) - ENGINE_START_SECONDS) * downloads
    seconds = max(_SMALLEST_BUDGET_SECONDS, (reading + ENGINE_START_SECONDS) * _BUDGET_MARGIN)
    return math.ceil(seconds / 60) * 60
