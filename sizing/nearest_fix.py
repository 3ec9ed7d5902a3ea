"""One change that makes a deployment fit: what would be tried first, by how little it takes from the users."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sizing.deployment import Deployment, check_parallelism
from sizing.errors import SizingError
from sizing.fit import Fit, fit
from sizing.kv_cache import BLOCK_TOKENS, request_gib

# vLLM's own advice for memory is fewer sequences; below this a server hardly batches.
_FEWER_SEQUENCES = 256
_HIGHEST_UTILIZATION = 0.95
_MOST_STAGES = 4
_ROUND_LENGTH_TOKENS = 1024


@dataclass(frozen=True)
class Fix:
    """A change and what it gives. ``flags`` are vLLM's."""

    change: str
    flags: str
    result: Fit


def longest_model_len(config: Deployment) -> int:
    """The longest max_model_len in tokens that the deployment holds, in multiples of 1,024 above that; 0 if none."""
    low, high = 0, config.max_model_len // BLOCK_TOKENS
    while low < high:
        middle = (low + high + 1) // 2
        if fit(replace(config, max_model_len=middle * BLOCK_TOKENS)).fits:
            low = middle
        else:
            high = middle - 1
    length = low * BLOCK_TOKENS
    return length // _ROUND_LENGTH_TOKENS * _ROUND_LENGTH_TOKENS or length


def _shorter(config: Deployment) -> Iterator[tuple[str, str, Deployment]]:
    length = longest_model_len(config)
    if length:
        yield f"a context of {length:,} tokens", f"--max-model-len {length}", replace(config, max_model_len=length)


def _same_gpus(config: Deployment, *, native_fp8: bool) -> Iterator[tuple[str, str, Deployment]]:
    """Changes that need no other hardware and keep the context."""
    if config.max_num_seqs > _FEWER_SEQUENCES:
        yield (
            f"at most {_FEWER_SEQUENCES} sequences at once (was {config.max_num_seqs})",
            f"--max-num-seqs {_FEWER_SEQUENCES}",
            replace(config, max_num_seqs=_FEWER_SEQUENCES),
        )
    if native_fp8 and config.kv_cache_dtype in ("bf16", "fp16"):
        yield "an fp8 KV cache (check quality)", "--kv-cache-dtype fp8", replace(config, kv_cache_dtype="fp8")
    if config.gpu_memory_utilization < _HIGHEST_UTILIZATION:
        yield (
            f"a memory utilization of {_HIGHEST_UTILIZATION}",
            f"--gpu-memory-utilization {_HIGHEST_UTILIZATION}",
            replace(config, gpu_memory_utilization=_HIGHEST_UTILIZATION),
        )


def _more_ranks(config: Deployment, gpus_per_node: int) -> Iterator[tuple[str, str, Deployment]]:
    size = config.tensor_parallel * 2
    while size <= gpus_per_node:
        try:
            check_parallelism(config.model, size, config.pipeline_parallel)
        except SizingError:
            break
        yield (
            f"tensor parallelism over {size} GPUs",
            f"--tensor-parallel-size {size}",
            replace(config, tensor_parallel=size),
        )
        size *= 2


def _fp8_weights(config: Deployment, *, native_fp8: bool) -> Iterator[tuple[str, str, Deployment]]:
    if native_fp8 and config.model.weights_dtype in ("bf16", "fp16"):
        model = config.model.model_copy(update={"weights_dtype": "fp8"})
        yield "fp8 weights (a quantised checkpoint)", "--quantization fp8", replace(config, model=model)


def _more_stages(config: Deployment, gpus_per_node: int) -> Iterator[tuple[str, str, Deployment]]:
    for stages in range(config.pipeline_parallel + 1, min(_MOST_STAGES, config.model.layers) + 1):
        nodes = -(-config.tensor_parallel * stages // gpus_per_node)
        yield (
            f"{stages} pipeline stages ({nodes} node{'s' if nodes > 1 else ''})",
            f"--pipeline-parallel-size {stages}",
            replace(config, pipeline_parallel=stages),
        )


def fixes(config: Deployment, *, gpus_per_node: int, native_fp8: bool) -> list[Fix]:
    """Every single change that makes ``config`` fit, the least intrusive first; empty where none does alone."""
    tried = (
        *_same_gpus(config, native_fp8=native_fp8),
        *_more_ranks(config, gpus_per_node),
        *_shorter(config),
        *_fp8_weights(config, native_fp8=native_fp8),
        *_more_stages(config, gpus_per_node),
    )
    found = [Fix(change, flags, result) for change, flags, changed in tried if (result := fit(changed)).fits]
    # Losing less than half of the context is less than twice the GPUs; losing more is not.
    keeps_half = [fix for fix in found if fix.result.config.max_model_len * 2 >= config.max_model_len]
    return keeps_half + [fix for fix in found if fix not in keeps_half]


def smallest_sufficient_memory_gib(config: Deployment) -> float:
    """GiB that a GPU would need for ``config`` to fit as it is (everything else equal)."""
    budget = fit(config).tightest
    needed = budget.weights_gib + budget.overhead.total_gib + request_gib(config, config.max_model_len)
    return needed / config.gpu_memory_utilization
