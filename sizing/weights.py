"""Weights on one GPU, from the model's dimensions: what is split, replicated, quantised or held by one stage only."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.models import Model
from catalog.parameters import count_parameters
from sizing.deployment import Deployment
from sizing.number_formats import GIB, compute_bytes, linear_bytes

# vLLM pads mxfp4 expert matrices for its kernels: hidden size to 256, intermediate size a rank to 128
# (vllm 0.19.0 fused_moe/oracle/mxfp4.py, Marlin). Reproduces the 65.97 GiB that row ISS09 logged for gpt-oss-120b.
_MXFP4_HIDDEN_MULTIPLE = 256
_MXFP4_INTERMEDIATE_MULTIPLE = 128


@dataclass(frozen=True)
class StageWeights:
    """GiB on one GPU of the first and of the last pipeline stage (equal with one stage)."""

    first_gib: float
    last_gib: float

    @property
    def largest_gib(self) -> float:
        """What the fuller of the two holds."""
        return max(self.first_gib, self.last_gib)


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _expert_elements_per_rank(model: Model, experts: int, tensor_parallel: int) -> float:
    """Routed expert elements on one rank, padding included. ``experts``: elements of all layers, unpadded."""
    if model.moe is None:
        return 0.0
    if model.weights_dtype != "mxfp4":
        return experts / tensor_parallel
    width = -(-model.moe.expert_intermediate_size // tensor_parallel)
    padded = _round_up(width, _MXFP4_INTERMEDIATE_MULTIPLE) * _round_up(model.hidden_size, _MXFP4_HIDDEN_MULTIPLE)
    return experts * padded / (model.moe.expert_intermediate_size * model.hidden_size)


def _replicated_elements(model: Model, tensor_parallel: int) -> float:
    """Elements of all layers that a rank holds beyond its even share of the linear layers.

    KV heads are copied where TP exceeds them; the down-projections of latent attention are on every rank.
    """
    if model.mla is not None:
        down = model.mla.kv_lora_rank + model.mla.qk_rope_head_dim + (model.mla.q_lora_rank or 0)
        return model.layers * model.hidden_size * down * (1 - 1 / tensor_parallel)
    extra_heads = max(1, model.kv_heads // tensor_parallel) * tensor_parallel - model.kv_heads
    return model.layers * 2 * model.hidden_size * model.head_dim * extra_heads / tensor_parallel


def _absorbed_bytes(model: Model, tensor_parallel: int) -> float:
    """Bytes of the 16-bit copies of the key and value up-projections that latent attention decodes with."""
    if model.mla is None:
        return 0.0
    width = model.attention_heads * (model.mla.qk_nope_head_dim + model.mla.v_head_dim) // tensor_parallel
    return model.layers * width * model.mla.kv_lora_rank * 2


def _rotary_bytes(model: Model) -> int:
    """Bytes of the cosine and sine tables, which count as weights: one a distinct position encoding."""
    rotary_width = model.mla.qk_rope_head_dim if model.mla else model.head_dim
    positions = model.rope_cache_tokens or model.max_context_tokens
    return positions * rotary_width * compute_bytes(model.weights_dtype)


def stage_weights(config: Deployment) -> StageWeights:
    """Weights in GiB a GPU of the first and last pipeline stage of ``config``, as vLLM reports them after loading."""
    model, tp = config.model, config.tensor_parallel
    counts = count_parameters(model)
    plain = compute_bytes(model.weights_dtype)
    # mxfp4 checkpoints quantise the experts only; GGUF quantises the embeddings too.
    linear = plain if model.weights_dtype == "mxfp4" else linear_bytes(model.weights_dtype)
    embedding = linear if model.weights_dtype == "q8_0" else plain
    share = config.layers_of_stage(model.layers) / model.layers
    layers = share * (
        linear * (counts.layer_linear / tp + _replicated_elements(model, tp))
        + linear_bytes(model.weights_dtype) * _expert_elements_per_rank(model, counts.layer_experts, tp)
        + plain * counts.layer_unquantised
        + _absorbed_bytes(model, tp)
    )
    layers *= 1 + config.draft_layers / model.layers  # a draft layer is as large as the average layer
    layers += _rotary_bytes(model)
    head = embedding * (counts.output_head or (counts.embedding if model.tied_embeddings else 0)) / tp
    inputs = (embedding * counts.embedding + plain * counts.other) / tp
    if config.pipeline_parallel == 1:
        total = (layers + inputs + embedding * counts.output_head / tp) / GIB
        return StageWeights(total, total)
    return StageWeights((layers + inputs) / GIB, (layers + head) / GIB)


def checkpoint_gib(model: Model) -> float:
    """Size of the model's files in GiB: what is read from storage once a replica."""
    counts = count_parameters(model)
    plain = compute_bytes(model.weights_dtype)
    linear = plain if model.weights_dtype == "mxfp4" else linear_bytes(model.weights_dtype)
    embedding = linear if model.weights_dtype == "q8_0" else plain
    return (
        linear * counts.layer_linear
        + linear_bytes(model.weights_dtype) * counts.layer_experts
        + embedding * (counts.embedding + counts.output_head)
        + plain * (counts.layer_unquantised + counts.other)
    ) / GIB
