"""What a start of vLLM takes on the GPU besides weights and KV cache, by generation of its code.

Facts only; ``sizing.overhead`` does the arithmetic. Sources stand in ``data/vllm_memory.yaml``.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from packaging.version import Version

from catalog.facts import Fact, load_yaml
from catalog.vllm_versions import VllmVersion

Engine = Literal["V0", "V1"]
_FIRST_V1 = Version("0.8.0")


class MemoryGeneration(Fact):
    """How one generation of vLLM spends memory at start. Memory in GiB a GPU; see the data file for the meaning."""

    name: str
    since: str
    dense_only: bool = False
    sampler_bytes_per_logit: float
    sampler_on_every_rank: bool = True
    top_k_buffer: bool = False
    penalty_bytes_per_logit: float = 0.0
    forward_hidden_copies: int = 4
    profile_follows_max_model_len: bool = False
    moe_workspace_persists: bool = False
    non_torch_gib: float
    non_torch_tp_gib: float
    """Communication buffers included, GPUs without NVLink."""
    non_torch_nvlink_gib: float
    """The same with NVLink, where peer-to-peer and multicast buffers come on top."""
    cuda_graphs_gib: float = 0.0
    cuda_graphs_tp_gib: float = 0.0
    start_up_gib: float = 0.0
    hybrid_tokens: Literal["none", "pooled", "requests"]


class BatchDefaults(Fact):
    """Default batch limits of ``vllm serve`` on a class of GPUs."""

    since: str
    at_least_gib: float
    not_architecture: str | None = None
    max_num_batched_tokens: int
    max_num_seqs: int


@cache
def generations() -> tuple[MemoryGeneration, ...]:
    """All generations, oldest first."""
    return tuple(MemoryGeneration.model_validate(row) for row in load_yaml("vllm_memory.yaml")["generations"])


@cache
def _batch_defaults() -> tuple[BatchDefaults, ...]:
    return tuple(BatchDefaults.model_validate(row) for row in load_yaml("vllm_memory.yaml")["batch_defaults"])


def _release(version: VllmVersion) -> Version:
    return Version(version.release.base_version)  # 0.11.0rc2.dev98+g39… behaves as 0.11.0


def engine_of(version: VllmVersion) -> Engine:
    """The engine that ``version`` runs by default."""
    return "V1" if _release(version) >= _FIRST_V1 else "V0"


def memory_generation(
    version: VllmVersion, *, mixture_of_experts: bool = False, engine: Engine | None = None
) -> MemoryGeneration:
    """The generation that ``version`` belongs to; ``engine`` overrides its default (0.8 to 0.10 had both)."""
    rows = generations()
    if (engine or engine_of(version)) == "V0":
        return rows[0]
    release = max(_release(version), _FIRST_V1)
    fitting = [row for row in rows if Version(row.since) <= release and not (row.dense_only and mixture_of_experts)]
    return fitting[-1]


def batch_defaults(version: VllmVersion, gpu_memory_gib: float, architecture: str | None = None) -> BatchDefaults:
    """The limits that ``vllm serve`` takes on such a GPU without flags. ``architecture`` as in the GPU table."""
    fitting = [
        row
        for row in _batch_defaults()
        if Version(row.since) <= _release(version)
        and gpu_memory_gib >= row.at_least_gib
        and (row.not_architecture is None or row.not_architecture != architecture)
    ]
    return fitting[-1]
