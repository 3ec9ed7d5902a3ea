"""Prefill and decode time of one replica: a bound from published peaks, an estimate from the measured share of them.

Decode reads the weights once a step and every running request's cache; prefill computes two operations a parameter and
token, and attention over the context.
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.gpus import Gpu
from sizing.all_reduce import all_reduce_seconds
from sizing.deployment import Deployment
from sizing.kv_cache import request_gib
from sizing.number_formats import GIB, linear_bytes
from sizing.roofline import (
    DECODE_BANDWIDTH_SHARE,
    DECODE_COMPUTE_SHARE,
    KV_READ_SHARE,
    LAYER_OVERHEAD_SECONDS,
    PREFILL_COMPUTE_SHARE,
    peaks,
)
from sizing.weights import stage_weights


@dataclass(frozen=True)
class StepTime:
    """Seconds of one pass through all pipeline stages, by cause; ``bound`` from published peaks alone."""

    weights_seconds: float
    kv_seconds: float
    compute_seconds: float
    all_reduce_seconds: float
    bound_seconds: float

    @property
    def seconds(self) -> float:
        """The estimate: matrices take the longer of reading and computing; the rest comes on top."""
        return max(self.weights_seconds, self.compute_seconds) + self.kv_seconds + self.all_reduce_seconds


def _weights_read_gib(config: Deployment, batch: int) -> float:
    """GiB of weights that one GPU reads a step: the embedding is looked up, and idle experts stay unread."""
    model = config.model
    read = stage_weights(config).largest_gib
    element = 2
    if not model.tied_embeddings and config.pipeline_parallel == 1:
        read -= model.vocab_size * model.hidden_size * element / config.tensor_parallel / GIB
    if model.moe is not None:
        matrices = 3 if model.gated_mlp else 2
        layers = config.layers_of_stage(model.moe.layers)
        size = matrices * model.hidden_size * model.moe.expert_intermediate_size * linear_bytes(model.weights_dtype)
        idle = (1 - model.moe.experts_per_token / model.moe.experts) ** batch  # each token picks its experts at random
        read -= layers * model.moe.experts * idle * size / config.tensor_parallel / GIB
    return read


def decode_step(config: Deployment, gpu: Gpu, *, batch: int, context_tokens: int) -> StepTime:
    """One decode step of ``batch`` requests with ``context_tokens`` tokens of context each.

    Every pipeline stage takes its turn, so the step of one request passes through all of them.
    """
    model, stages = config.model, config.pipeline_parallel
    peak = peaks(gpu, model.weights_dtype)
    weights = _weights_read_gib(config, batch) * GIB
    cache = batch * request_gib(config, context_tokens) * GIB
    operations = 2 * model.active_parameters * batch / config.gpus
    read_seconds = (
        weights / (DECODE_BANDWIDTH_SHARE * peak.bandwidth)
        + config.layers_of_stage(model.layers) * LAYER_OVERHEAD_SECONDS
    )
    bound = max((weights + cache) / peak.bandwidth, operations / peak.operations)
    return StepTime(
        weights_seconds=stages * read_seconds,
        kv_seconds=stages * cache / (KV_READ_SHARE * peak.bandwidth),
        compute_seconds=stages * operations / (DECODE_COMPUTE_SHARE[peak.arithmetic] * peak.operations),
        all_reduce_seconds=all_reduce_seconds(config, batch, nvlink_gb_per_second=gpu.nvlink_gb_per_second),
        bound_seconds=stages * bound,
    )


def prefill(config: Deployment, gpu: Gpu, *, tokens: int) -> StepTime:
    """Prefill of one prompt of ``tokens`` tokens, in chunks of max_num_batched_tokens."""
    model = config.model
    peak = peaks(gpu, model.weights_dtype)
    chunks = -(-tokens // config.max_num_batched_tokens)
    # Attention scores and values: 4 operations a pair of positions and head element, half of the pairs (causal).
    attention = 2 * model.full_attention_layers * model.attention_heads * model.head_dim * tokens**2
    operations = (2 * model.active_parameters * tokens + attention) / config.tensor_parallel
    overhead = chunks * model.layers * LAYER_OVERHEAD_SECONDS
    return StepTime(
        weights_seconds=chunks * config.pipeline_parallel * stage_weights(config).largest_gib * GIB / peak.bandwidth,
        kv_seconds=0.0,
        compute_seconds=operations / (PREFILL_COMPUTE_SHARE[peak.arithmetic] * peak.operations) + overhead,
        all_reduce_seconds=all_reduce_seconds(config, tokens, nvlink_gb_per_second=gpu.nvlink_gb_per_second),
        bound_seconds=operations / peak.operations,
    )
