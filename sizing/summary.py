"""Everything that the program needs to know of one model server: the verdict, and each default with its reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

from catalog.models import Model
from catalog.vllm_memory import batch_defaults
from catalog.vllm_versions import VllmVersion
from sizing.cost import Cost, gpu_costs
from sizing.deployment import Deployment, deployment
from sizing.fit import Fit, fit
from sizing.hardware import Hardware, check_placement
from sizing.host_memory import host_memory
from sizing.load_time import CacheKind, load_seconds, startup_budget_seconds
from sizing.nearest_fix import Fix, fixes
from sizing.shm import required_shm_gib
from sizing.weights import checkpoint_gib

# Requests are planned to a quarter of max_model_len where the stack does not say how long they are.
_TYPICAL_SHARE = 4
_FEWEST_SEQUENCES = 8
# The article's KEDA threshold, and the share of a replica's requests that it should not exceed.
_ARTICLE_WAITING = 5
_WAITING_SHARE = 16


@dataclass(frozen=True)
class Default:
    """A value derived by sizing, and why."""

    value: int
    reason: str


@dataclass(frozen=True)
class ServerSummary:
    """One model server: verdict, capacity, start-up and defaults. Memory in GiB, times in seconds, money in USD."""

    result: Fit
    nearest_fix: Fix | None
    gpus: int
    nodes: int
    max_num_seqs: Default
    shm_gib: Default
    host_memory_request_gib: Default
    host_memory_limit_gib: Default
    startup_budget_seconds: Default
    keda_waiting_threshold: Default
    load_seconds: float
    costs: tuple[Cost, ...]

    @property
    def fits(self) -> bool:
        """Whether the server loads and holds one request of its own max_model_len."""
        return self.result.fits

    @property
    def reason(self) -> str:
        """The verdict in words, with the nearest fix where it does not fit."""
        if self.fits:
            return self.result.reason
        if self.nearest_fix is None:
            return f"{self.result.reason}. No single change fits: take larger GPUs or a smaller model"
        return f"{self.result.reason}. Nearest change that fits: {self.nearest_fix.change} ({self.nearest_fix.flags})"

    @property
    def kv_cache_tokens(self) -> int:
        """Tokens in the KV cache of one replica."""
        return self.result.capacity.tokens

    @property
    def max_concurrency(self) -> float:
        """Requests of max_model_len that one replica holds at once."""
        return self.result.max_concurrency


def _default_max_num_seqs(config: Deployment, request_tokens: int, vllm_default: int) -> Default:
    """As many sequences as the cache holds, at most vLLM's default. Fewer sequences leave a larger cache, so halve."""

    def held(sequences: int) -> int:
        return int(fit(replace(config, max_num_seqs=sequences)).capacity.concurrency(request_tokens))

    most = sequences = vllm_default
    while sequences > _FEWEST_SEQUENCES and held(sequences) < sequences:
        most, sequences = sequences, max(_FEWEST_SEQUENCES, sequences // 2)
    requests = held(sequences)
    value = max(sequences, min(most, requests // _FEWEST_SEQUENCES * _FEWEST_SEQUENCES))
    if value == vllm_default:
        limit = f"vLLM's default of {vllm_default}"
    elif requests < _FEWEST_SEQUENCES:
        limit = f"the least that still batches: the KV cache holds {requests} requests of {request_tokens:,} tokens"
    else:
        limit = f"the {requests} requests of {request_tokens:,} tokens that the KV cache holds"
    return Default(value, f"{limit}; more would be preempted instead of waiting in the queue that KEDA sees")


def summarize(
    model: Model,
    place: Hardware,
    vllm_version: VllmVersion,
    *,
    tensor_parallel: int,
    pipeline_parallel: int = 1,
    max_model_len: int | None = None,
    kv_cache_dtype: str = "auto",
    gpu_memory_utilization: float | None = None,
    max_num_seqs: int | None = None,
    max_num_batched_tokens: int | None = None,
    typical_request_tokens: int | None = None,
    cache: CacheKind = "hub",
) -> ServerSummary:
    """The summary of one replica; what is None is derived or vLLM's default. ``cache``: where a cold start reads from.

    Raises:
        SizingError: a value that vLLM would refuse, with what is allowed.
    """
    check_placement(place, tensor_parallel)
    config = deployment(
        model,
        place.memory,
        vllm_version,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=pipeline_parallel,
        max_model_len=max_model_len,
        kv_dtype=kv_cache_dtype,
        gpu_memory_utilization=gpu_memory_utilization,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
    )
    vllm_default = batch_defaults(vllm_version, place.memory.memory_gib, place.memory.architecture).max_num_seqs
    typical = typical_request_tokens or max(1, config.max_model_len // _TYPICAL_SHARE)
    if max_num_seqs is None:
        sequences = _default_max_num_seqs(config, typical, vllm_default)
        config = replace(config, max_num_seqs=sequences.value)
    else:
        sequences = Default(max_num_seqs, "set by the stack")
    result = fit(config)
    native_fp8 = place.gpu.native_fp8 if place.gpu else False
    found = [] if result.fits else fixes(config, gpus_per_node=place.gpus_per_node, native_fp8=native_fp8)
    ranks = min(config.gpus, place.gpus_per_node)
    nodes = -(-config.gpus // place.gpus_per_node)
    memory = host_memory(
        ranks, checkpoint_gib(model) / nodes, node_gib=place.host_memory_gib, node_gpus=place.gpus_per_node
    )
    shm = required_shm_gib(ranks)
    waiting = max(1, min(_ARTICLE_WAITING, config.max_num_seqs // _WAITING_SHARE))
    return ServerSummary(
        result=result,
        nearest_fix=found[0] if found else None,
        gpus=config.gpus,
        nodes=nodes,
        max_num_seqs=sequences,
        shm_gib=Default(
            shm,
            f"{ranks} ranks in a pod; 16 GiB is the article's line for up to eight"
            if shm
            else "one rank shares memory with nobody",
        ),
        host_memory_request_gib=Default(memory.request_gib, memory.reason),
        host_memory_limit_gib=Default(memory.limit_gib, memory.reason),
        startup_budget_seconds=Default(
            startup_budget_seconds(model, cache),
            f"{checkpoint_gib(model):.0f} GiB of weights from {cache}, engine start and a margin (sizing.load_time)",
        ),
        keda_waiting_threshold=Default(
            waiting,
            f"the article's {_ARTICLE_WAITING} waiting requests a replica, at most a sixteenth of the "
            f"{config.max_num_seqs} sequences that it runs",
        ),
        load_seconds=load_seconds(model, cache),
        costs=gpu_costs(place.instance.name, config.gpus) if place.instance else (),
    )
