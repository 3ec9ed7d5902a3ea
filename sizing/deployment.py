"""One model server as vLLM sees it at start: model, GPU and flags, with vLLM's own defaults filled in and checked."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.gpus import Gpu
from catalog.models import Model
from catalog.vllm_memory import (
    Engine,
    MemoryGeneration,
    batch_defaults,
    memory_generation,
)
from catalog.vllm_versions import VllmVersion
from sizing.errors import SizingError
from sizing.number_formats import KvCacheDtype, compute_bytes, kv_cache_dtype

# V0 switched chunked prefill on by itself only above this length (vllm#10517).
_V0_CHUNKED_ABOVE_TOKENS = 32768
# Streaming multiprocessors assumed where only the GPU's memory is known: an H100's, the largest common part.
_UNKNOWN_MULTIPROCESSORS = 132


@dataclass(frozen=True)
class GpuMemory:
    """What sizing needs of a GPU: the memory that CUDA reports, in GiB, and what sampler and links depend on."""

    memory_gib: float
    architecture: str | None = None
    multiprocessors: int = _UNKNOWN_MULTIPROCESSORS
    has_nvlink: bool = True

    @staticmethod
    def of(gpu: Gpu, *, memory_gib: float | None = None, has_nvlink: bool | None = None) -> GpuMemory:
        """The memory facts of a catalog GPU; a reported size and the server's real links override the table's."""
        return GpuMemory(
            memory_gib or gpu.memory_gib,
            gpu.architecture,
            gpu.multiprocessors,
            gpu.has_nvlink if has_nvlink is None else has_nvlink,
        )


@dataclass(frozen=True)
class Deployment:
    """One replica of a model server. Lengths and batches in tokens, memory in GiB a GPU."""

    model: Model
    gpu: GpuMemory
    vllm_version: VllmVersion
    tensor_parallel: int
    pipeline_parallel: int
    max_model_len: int
    kv_cache_dtype: KvCacheDtype
    gpu_memory_utilization: float
    max_num_seqs: int
    max_num_batched_tokens: int
    enforce_eager: bool
    draft_layers: int
    """Speculative layers that are loaded beside the model and share its cache (EAGLE, multi-token prediction)."""
    generation: MemoryGeneration

    @property
    def gpus(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.pipeline_parallel

    @property
    def compute_bytes(self) -> int:
        """Bytes an activation element."""
        return compute_bytes(self.model.weights_dtype)

    @property
    def kv_heads_per_rank(self) -> int:
        """KV heads on one rank: divided by TP, replicated where TP is larger."""
        return max(1, self.model.kv_heads // self.tensor_parallel)

    def layers_of_stage(self, layers: int) -> int:
        """How many of ``layers`` the fullest pipeline stage holds."""
        return -(-layers // self.pipeline_parallel)


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise SizingError(f"{name} is {value}: it must be at least 1")
    return value


def check_parallelism(model: Model, tensor_parallel: int, pipeline_parallel: int) -> None:
    """Refuse what vLLM refuses: TP that does not divide the heads, PP above the layers.

    Raises:
        SizingError: with the values that are allowed.
    """
    _positive("tensor parallel size", tensor_parallel)
    _positive("pipeline parallel size", pipeline_parallel)
    heads, kv_heads = model.attention_heads, model.kv_heads
    allowed = [
        size for size in range(1, heads + 1) if heads % size == 0 and (kv_heads % size == 0 or size % kv_heads == 0)
    ]
    if tensor_parallel not in allowed:
        raise SizingError(
            f"tensor parallel size {tensor_parallel} does not divide the {heads} attention heads "
            f"({kv_heads} KV heads) of {model.name}: one of {', '.join(map(str, allowed))}"
        )
    if pipeline_parallel > model.layers:
        raise SizingError(
            f"pipeline parallel size {pipeline_parallel} is above the {model.layers} layers of {model.name}: "
            f"at most {model.layers}"
        )


def deployment(
    model: Model,
    gpu: GpuMemory,
    vllm_version: VllmVersion,
    *,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    max_model_len: int | None = None,
    kv_dtype: str = "auto",
    gpu_memory_utilization: float | None = None,
    max_num_seqs: int | None = None,
    max_num_batched_tokens: int | None = None,
    enforce_eager: bool = False,
    draft_layers: int = 0,
    engine: Engine | None = None,
) -> Deployment:
    """A checked ``Deployment``; what is None takes the default of that vLLM version on that GPU.

    Raises:
        SizingError: a value that vLLM would refuse or that makes no sense, with what is allowed.
    """
    check_parallelism(model, tensor_parallel, pipeline_parallel)
    if gpu.memory_gib <= 0:
        raise SizingError(f"GPU memory is {gpu.memory_gib} GiB: it must be above 0")
    if draft_layers < 0:
        raise SizingError(f"draft layers is {draft_layers}: it must be 0 or more")
    utilization = (
        vllm_version.gpu_memory_utilization_default if gpu_memory_utilization is None else gpu_memory_utilization
    )
    if not 0 < utilization <= 1:
        raise SizingError(f"GPU memory utilization is {utilization}: it must be above 0 and at most 1")
    length = _positive("max model length", model.max_context_tokens if max_model_len is None else max_model_len)
    generation = memory_generation(vllm_version, mixture_of_experts=model.moe is not None, engine=engine)
    defaults = batch_defaults(vllm_version, gpu.memory_gib, gpu.architecture)
    if max_num_batched_tokens is None:
        max_num_batched_tokens = defaults.max_num_batched_tokens
        if generation.profile_follows_max_model_len and length <= _V0_CHUNKED_ABOVE_TOKENS:
            max_num_batched_tokens = max(length, max_num_batched_tokens)
    return Deployment(
        model=model,
        gpu=gpu,
        vllm_version=vllm_version,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=pipeline_parallel,
        max_model_len=length,
        kv_cache_dtype=kv_cache_dtype(kv_dtype, model.weights_dtype),
        gpu_memory_utilization=utilization,
        max_num_seqs=_positive("max_num_seqs", defaults.max_num_seqs if max_num_seqs is None else max_num_seqs),
        max_num_batched_tokens=_positive("max_num_batched_tokens", max_num_batched_tokens),
        enforce_eager=enforce_eager,
        draft_layers=draft_layers,
        generation=generation,
    )
