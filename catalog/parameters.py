"""Counts a model's parameters from its dimensions, by part, because parts are stored, split and staged differently.

The parts are those of vLLM's implementations: linear layers (quantised, split over tensor-parallel ranks), experts,
embedding and output head (16 bit, split by vocabulary), norms and other vectors (16 bit, replicated).
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.models import Model


@dataclass(frozen=True)
class ParameterCounts:
    """Elements of a whole model by part. ``layer_*`` sums run over all layers."""

    layer_linear: int
    """Attention, dense and shared MLP matrices."""
    layer_experts: int
    """Routed expert matrices, without biases."""
    layer_unquantised: int
    """Norms, biases, routers, convolution and decay vectors: kept in 16 bit by every format."""
    embedding: int
    output_head: int
    """0 where the output head is the embedding."""
    other: int
    """Vision tower and projector."""

    @property
    def total(self) -> int:
        """All parameters."""
        return (
            self.layer_linear
            + self.layer_experts
            + self.layer_unquantised
            + self.embedding
            + self.output_head
            + self.other
        )


def _attention_matrices(model: Model) -> int:
    """Elements of the query, key, value and output matrices of every attention layer together."""
    hidden = model.hidden_size
    layers = model.layers - (model.linear_attention.layers if model.linear_attention else 0)
    if model.mla is not None:
        mla, heads = model.mla, model.attention_heads
        query_width = heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
        rank = mla.q_lora_rank
        query = hidden * query_width if rank is None else hidden * rank + rank * query_width
        latent = hidden * (mla.kv_lora_rank + mla.qk_rope_head_dim)
        expand = mla.kv_lora_rank * heads * (mla.qk_nope_head_dim + mla.v_head_dim)
        return layers * (query + latent + expand + heads * mla.v_head_dim * hidden)
    query_factor = 3 if model.attention_gate else 2  # query and output, and a gate
    local_layers = layers if model.global_head_dim is None else model.sliding_layers
    local = query_factor * model.attention_heads * model.head_dim + 2 * model.kv_heads * model.head_dim
    total = local_layers * hidden * local
    if model.global_head_dim is not None:
        key_value = (1 if model.global_shares_key_value else 2) * (model.global_kv_heads or model.kv_heads)
        heads = query_factor * model.attention_heads + key_value
        total += model.full_attention_layers * hidden * heads * model.global_head_dim
    return total


def _attention_vectors(model: Model) -> int:
    """Biases, query/key norms and sinks of every attention layer together."""
    layers = model.layers - (model.linear_attention.layers if model.linear_attention else 0)
    if model.mla is not None:
        return layers * (model.mla.kv_lora_rank + (model.mla.q_lora_rank or 0))  # norms of the latents
    vector = 2 * model.head_dim if model.qk_norm else 0
    if model.qkv_bias:
        vector += (model.attention_heads + 2 * model.kv_heads) * model.head_dim
    if model.output_bias:
        vector += model.hidden_size
    if model.attention_sinks:
        vector += model.attention_heads
    return layers * vector


def _linear_attention(model: Model) -> tuple[int, int]:
    """(matrices, vectors) of the gated-delta-net layers: projections; convolution, decay, time step and norm."""
    linear = model.linear_attention
    if linear is None:
        return 0, 0
    key_width = linear.key_heads * linear.key_head_dim
    value_width = linear.value_heads * linear.value_head_dim
    inputs = 2 * key_width + 2 * value_width + 2 * linear.value_heads  # q, k, v, z, b, a
    matrices = model.hidden_size * inputs + value_width * model.hidden_size
    vectors = (2 * key_width + value_width) * linear.conv_kernel + 2 * linear.value_heads + linear.value_head_dim
    return linear.layers * matrices, linear.layers * vectors


def _mlp(model: Model) -> tuple[int, int, int]:
    """(dense and shared matrices, expert matrices, router and biases) of all layers."""
    matrices = 3 if model.gated_mlp else 2
    hidden, moe = model.hidden_size, model.moe
    if moe is None:
        return model.layers * matrices * hidden * model.intermediate_size, 0, 0
    dense_layers = model.layers - (0 if moe.dense_beside_experts else moe.layers)
    dense = dense_layers * matrices * hidden * model.intermediate_size
    dense += moe.layers * matrices * hidden * moe.shared_intermediate_size
    experts = moe.layers * moe.experts * matrices * hidden * moe.expert_intermediate_size
    router = moe.layers * hidden * (moe.experts + (1 if moe.shared_gate else 0))
    if moe.expert_bias:
        router += moe.layers * moe.experts * (1 + hidden + (matrices - 1) * moe.expert_intermediate_size)
    return dense, experts, router


def count_parameters(model: Model) -> ParameterCounts:
    """The parameter counts of ``model`` from its dimensions alone (draft layers not counted)."""
    linear_matrices, linear_vectors = _linear_attention(model)
    dense, experts, router = _mlp(model)
    norms = model.layers * model.norms_per_layer * model.hidden_size + model.hidden_size
    embedding = model.vocab_size * model.hidden_size
    return ParameterCounts(
        layer_linear=_attention_matrices(model) + linear_matrices + dense,
        layer_experts=experts,
        layer_unquantised=_attention_vectors(model) + linear_vectors + router + norms,
        embedding=embedding,
        output_head=0 if model.tied_embeddings or not model.generates else embedding,
        other=model.other_parameters,
    )
