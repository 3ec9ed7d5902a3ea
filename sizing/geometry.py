"""A model that the catalog does not know, from a log row's geometry: exact for the cache, estimated for the rest."""

from __future__ import annotations

import math

from catalog.models import AttentionKind, LatentAttention, LinearAttention, Model, models
from sizing.log_rows import LogRow
from sizing.number_formats import GIB, linear_bytes

# Proportions of today's dense models, for activations only: 12 hidden² parameters a layer, MLP 3.5 times the hidden
# size, a vocabulary between Llama 3's and Qwen's. DeepSeek's latent sizes stand for any MLA.
_PARAMETERS_PER_LAYER_AND_HIDDEN_SQUARED = 12
_INTERMEDIATE_PER_HIDDEN = 3.5
_VOCABULARY = 152_000
_LATENT = LatentAttention(q_lora_rank=None, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)


def _same_geometry(row: LogRow) -> Model | None:
    """A catalog model with the row's layers, KV heads and head size: its family shares hidden size and vocabulary."""
    key = (row.layers, row.kv_heads, row.head_dim)
    return next((model for model in models().values() if (model.layers, model.kv_heads, model.head_dim) == key), None)


def _estimated_hidden_size(row: LogRow, layers: int, attention_width: int) -> int:
    if row.weights_gib is None:
        return attention_width
    elements = (
        row.weights_gib * row.tensor_parallel * row.pipeline_parallel * GIB / linear_bytes(row.weights_dtype or "bf16")
    )
    hidden = math.sqrt(elements / (_PARAMETERS_PER_LAYER_AND_HIDDEN_SQUARED * layers))
    return max(64, round(hidden / 64) * 64)


def model_from_row(row: LogRow) -> Model | None:
    """A stand-in model for ``row``, or None where the row has no layers, or no heads and no MLA.

    Sliding and linear layers are taken from a catalog model of the same geometry where there is one; without it a
    hybrid is refused, since its split of layers is unknown.
    """
    kinds: dict[str, AttentionKind] = {"mla": "mla", "hybrid-gdn": "hybrid-gdn"}
    attention = kinds.get(row.attention, "gqa")
    if row.layers is None or (attention != "mla" and (row.kv_heads is None or row.head_dim is None)):
        return None
    twin = _same_geometry(row)
    if twin is not None and (twin.attention == row.attention or not row.attention.startswith("hybrid")):
        return twin.model_copy(update={"name": row.model, "weights_dtype": row.weights_dtype or twin.weights_dtype})
    if row.attention.startswith("hybrid") and attention != "hybrid-gdn":
        return None
    kv_heads, head_dim = row.kv_heads or 1, row.head_dim or 128
    heads = kv_heads * max(1, row.tensor_parallel // math.gcd(kv_heads, row.tensor_parallel))
    hidden = _estimated_hidden_size(row, row.layers, kv_heads * head_dim * 4)
    # Qwen's gated-delta-net hybrids: three of four layers are linear, with 16 key and 32 value heads of 128.
    linear = LinearAttention(
        layers=row.layers * 3 // 4, key_heads=16, value_heads=32, key_head_dim=128, value_head_dim=128, conv_kernel=4
    )
    return Model(
        name=row.model or row.id,
        layers=row.layers,
        hidden_size=hidden,
        intermediate_size=int(hidden * _INTERMEDIATE_PER_HIDDEN),
        vocab_size=_VOCABULARY,
        attention_heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        max_context_tokens=row.max_model_len or 32768,
        parameters=0,
        weights_dtype=row.weights_dtype or "bf16",
        attention=attention,
        mla=_LATENT if attention == "mla" else None,
        linear_attention=linear if attention == "hybrid-gdn" else None,
        source="geometry of a log row",
    )
