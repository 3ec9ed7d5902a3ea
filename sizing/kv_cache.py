"""KV cache: bytes a token, blocks, tokens and concurrency, by the rules of each attention kind.

vLLM hands out blocks of 16 tokens. A uniform model has one block table; a hybrid groups its layers into equal groups
(the size of the smaller kind) that draw from one pool (facts/vllm-memory.md section 0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from catalog.models import Model
from sizing.deployment import Deployment
from sizing.number_formats import kv_bytes

BLOCK_TOKENS = 16
# Where the kinds differ by less than half, the larger count is the group size (kv_cache_utils.py, 0.19.0 and later).
_NEARLY_EQUAL = 1.5


@dataclass(frozen=True)
class CacheLayout:
    """How one GPU's cache is cut. ``block_bytes`` is one block of one group of layers."""

    block_bytes: int
    full_groups: int
    full_block_tokens: int = BLOCK_TOKENS
    sliding_groups: int = 0
    sliding_tokens: int = 0
    """Most tokens that a sliding layer keeps for one request (window and the batch in flight)."""
    sliding_spare_blocks: int = 0
    state_groups: int = 0
    """Groups of layers with one state a request instead of a cache."""
    is_estimate: bool = False

    @property
    def groups(self) -> int:
        """All groups that draw from the pool."""
        return self.full_groups + self.sliding_groups + self.state_groups

    def blocks_per_request(self, tokens: int) -> int:
        """Blocks that one request of ``tokens`` tokens holds at its end."""
        full = self.full_groups * math.ceil(tokens / self.full_block_tokens)
        window = math.ceil(min(self.sliding_tokens, tokens) / BLOCK_TOKENS) + self.sliding_spare_blocks
        return full + self.sliding_groups * window + self.state_groups

    @property
    def bytes_per_token(self) -> float:
        """Bytes that one more token of a long request takes on one GPU."""
        return self.full_groups * self.block_bytes / self.full_block_tokens


def _layer_bytes(config: Deployment) -> int:
    """Bytes a token and (sliding or uniform) layer on one GPU."""
    element = kv_bytes(config.kv_cache_dtype)
    if config.model.mla is not None:
        # One latent and one rotary key a token, the same on every tensor-parallel rank.
        return (config.model.mla.kv_lora_rank + config.model.mla.qk_rope_head_dim) * element
    return 2 * config.kv_heads_per_rank * config.model.head_dim * element


def _group_size(full_layers: int, sliding_layers: int) -> int:
    smaller, larger = sorted((full_layers, sliding_layers))
    return larger if larger < smaller * _NEARLY_EQUAL else smaller


def _global_layer_bytes(config: Deployment) -> int:
    """Bytes a token and full-attention layer, where those have a head size of their own (Gemma 4)."""
    model = config.model
    heads = max(1, (model.global_kv_heads or model.kv_heads) // config.tensor_parallel)
    return 2 * heads * (model.global_head_dim or model.head_dim) * kv_bytes(config.kv_cache_dtype)


def _state_bytes(model: Model, tensor_parallel: int) -> int:
    """Bytes of one linear-attention layer's state a request: convolution window and recurrent matrix, 16 bit."""
    linear = model.linear_attention
    assert linear is not None
    width = 2 * linear.key_heads * linear.key_head_dim + linear.value_heads * linear.value_head_dim
    convolution = width * (linear.conv_kernel - 1)
    recurrent = linear.value_heads * linear.key_head_dim * linear.value_head_dim
    return (convolution + recurrent) * 2 // tensor_parallel


def cache_layout(config: Deployment) -> CacheLayout:
    """The cache layout of one GPU (of the fullest pipeline stage)."""
    model = config.model
    layer_bytes = _layer_bytes(config)
    stage = config.layers_of_stage
    if model.linear_attention is not None:
        full, states = stage(model.full_attention_layers) + config.draft_layers, stage(model.linear_attention.layers)
        # The attention block grows until its page is as large as a state, in steps of the block size.
        block_tokens = BLOCK_TOKENS * math.ceil(
            _state_bytes(model, config.tensor_parallel) / (layer_bytes * BLOCK_TOKENS)
        )
        return CacheLayout(
            block_bytes=full * block_tokens * layer_bytes,
            full_groups=1,
            full_block_tokens=block_tokens,
            state_groups=math.ceil(states / full),
            is_estimate=True,
        )
    pooled = model.sliding_layers > 0 and config.generation.hybrid_tokens != "none"
    if not pooled:
        layers = stage(model.layers) + config.draft_layers
        return CacheLayout(block_bytes=layers * layer_bytes * BLOCK_TOKENS, full_groups=1)
    full, sliding = stage(model.full_attention_layers) + config.draft_layers, stage(model.sliding_layers)
    size = _group_size(full, sliding)
    window = model.sliding_window_tokens or 0
    chunked = model.attention == "hybrid-chunked"
    ratio = layer_bytes // _global_layer_bytes(config) if model.global_head_dim else 1
    return CacheLayout(
        block_bytes=size * layer_bytes * BLOCK_TOKENS,
        full_groups=math.ceil(full / size),
        full_block_tokens=BLOCK_TOKENS * max(1, ratio),
        sliding_groups=math.ceil(sliding / size),
        sliding_tokens=window + config.max_num_batched_tokens - (0 if chunked else 1),
        sliding_spare_blocks=0 if chunked else 1,
        is_estimate=model.global_head_dim is not None,
    )


@dataclass(frozen=True)
class CacheCapacity:
    """What a GPU's cache holds. Every rank of a replica holds the same tokens, each its part."""

    blocks: int
    tokens: int
    """Tokens as vLLM prints them for this version."""
    layout: CacheLayout

    def concurrency(self, request_tokens: int) -> float:
        """Requests of ``request_tokens`` tokens that fit at once."""
        return self.blocks / self.layout.blocks_per_request(request_tokens)


def cache_capacity(config: Deployment, available_gib: float) -> CacheCapacity:
    """Blocks and tokens in ``available_gib`` GiB a GPU (0 where that is negative)."""
    layout = cache_layout(config)
    blocks = max(0, int(available_gib * 2**30 // layout.block_bytes))
    if config.generation.hybrid_tokens == "requests":
        tokens = int(blocks / layout.blocks_per_request(config.max_model_len) * config.max_model_len)
    else:
        smallest_block = layout.full_block_tokens if layout.state_groups else BLOCK_TOKENS
        tokens = blocks // layout.groups * smallest_block
    return CacheCapacity(blocks, tokens, layout)


def request_gib(config: Deployment, tokens: int) -> float:
    """GiB a GPU that one request of ``tokens`` tokens holds at its end."""
    layout = cache_layout(config)
    return layout.blocks_per_request(tokens) * layout.block_bytes / 2**30
