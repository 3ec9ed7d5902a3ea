"""Does it fit: the memory budget of one GPU, the tokens that are left, and the verdict.

``available = utilization x memory - weights - overhead``, on each pipeline stage; the stage with the least decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from sizing.deployment import Deployment
from sizing.kv_cache import CacheCapacity, cache_capacity, cache_layout, request_gib
from sizing.overhead import Overhead, overhead
from sizing.weights import StageWeights, stage_weights

# A margin below which the verdict is called tight: run-to-run noise (0.03 GiB, facts/vllm-memory.md) and model error.
TIGHT_GIB = 0.25


@dataclass(frozen=True)
class Budget:
    """One stage's memory in GiB a GPU."""

    requested_gib: float
    weights_gib: float
    overhead: Overhead

    @property
    def available_gib(self) -> float:
        """Left for the KV cache; negative where not even the weights fit."""
        return self.requested_gib - self.weights_gib - self.overhead.total_gib


@dataclass(frozen=True)
class Fit:
    """The verdict on one deployment. Memory in GiB a GPU."""

    config: Deployment
    first_stage: Budget
    last_stage: Budget
    capacity: CacheCapacity
    fits: bool
    reason: str

    @property
    def tightest(self) -> Budget:
        """The stage that decides."""
        return min(self.first_stage, self.last_stage, key=lambda budget: budget.available_gib)

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes that one more token of a long request takes on one GPU."""
        return self.capacity.layout.bytes_per_token

    @property
    def max_concurrency(self) -> float:
        """Requests of max_model_len that fit at once."""
        return self.capacity.concurrency(self.config.max_model_len)


def _budget(config: Deployment, weights_gib: float, *, first_stage: bool, last_stage: bool) -> Budget:
    requested = config.gpu_memory_utilization * config.gpu.memory_gib
    return Budget(requested, weights_gib, overhead(config, first_stage=first_stage, last_stage=last_stage))


def _reason(config: Deployment, budget: Budget, needed_gib: float) -> str:
    gpus = f"{config.gpus} GPU{'s' if config.gpus > 1 else ''} of {config.gpu.memory_gib:.2f} GiB"
    spent = (
        f"weights {budget.weights_gib:.2f} GiB and overhead {budget.overhead.total_gib:.2f} GiB a GPU "
        f"of {budget.requested_gib:.2f} GiB (utilization {config.gpu_memory_utilization:g})"
    )
    request = f"one request of {config.max_model_len:,} tokens takes {needed_gib:.2f} GiB"
    if budget.available_gib <= 0:
        return f"{config.model.name} does not load on {gpus}: {spent} leave nothing for the KV cache"
    if budget.available_gib < needed_gib:
        return f"{config.model.name} loads on {gpus}, but {spent} leave {budget.available_gib:.2f} GiB, and {request}"
    tight = budget.available_gib - needed_gib < TIGHT_GIB
    warning = f"; tight: estimate and starts differ by up to {TIGHT_GIB} GiB" if tight else ""
    return f"{spent} leave {budget.available_gib:.2f} GiB for the KV cache; {request}{warning}"


def fit(config: Deployment, *, weights: StageWeights | None = None) -> Fit:
    """Whether ``config`` starts and holds one request of its own max_model_len.

    ``weights`` replaces the predicted weights (a logged figure).
    """
    weights = weights or stage_weights(config)
    one_stage = config.pipeline_parallel == 1
    first = _budget(config, weights.first_gib, first_stage=True, last_stage=one_stage)
    last = _budget(config, weights.last_gib, first_stage=one_stage, last_stage=True)
    tightest = min(first, last, key=lambda budget: budget.available_gib)
    capacity = cache_capacity(config, tightest.available_gib)
    needed_blocks = cache_layout(config).blocks_per_request(config.max_model_len)
    fits = capacity.blocks >= needed_blocks
    reason = _reason(config, tightest, request_gib(config, config.max_model_len))
    return Fit(config, first, last, capacity, fits, reason)
