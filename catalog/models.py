"""Models: the dimensions that decide weights, KV cache and activations, by Hugging Face id.

Every row's dimensions reproduce its published parameter count (``catalog/parameters.py`` counts, a test compares).
A name with a quantisation suffix (``…-AWQ``, ``…-FP8-dynamic``) is its base model with other weights.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import model_validator

from catalog.facts import Fact, load_yaml, unknown
from catalog.model_names import bare_name, family_name, quantisation_of

AttentionKind = Literal["gqa", "mla", "hybrid-swa", "hybrid-chunked", "hybrid-gdn"]
"""gqa: every layer keeps all keys and values (multi-head and multi-query included); mla: one latent a token;
hybrid-swa: some layers keep a sliding window; hybrid-chunked: some attend within chunks; hybrid-gdn: some layers
keep a state of fixed size instead of a cache (gated delta net, Mamba)."""

WeightsDtype = Literal["fp32", "bf16", "fp16", "fp8", "int8", "int4", "mxfp4", "nvfp4", "nf4", "q8_0"]
"""How the linear layers are stored; embeddings and the output head stay in 16 bit."""


class MixtureOfExperts(Fact):
    """The expert layers of a mixture-of-experts model. Sizes are matrix dimensions (elements)."""

    experts: int
    experts_per_token: int
    expert_intermediate_size: int
    shared_intermediate_size: int = 0
    """Width of all shared experts together; 0 where there is none."""
    layers: int
    """How many layers have experts; the others have a dense MLP of ``Model.intermediate_size``."""
    dense_beside_experts: bool = False
    """Whether the expert layers also carry a dense MLP (Gemma 4)."""
    expert_bias: bool = False
    shared_gate: bool = False


class LatentAttention(Fact):
    """Multi-head latent attention (DeepSeek): ranks and head sizes in elements."""

    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int


class LinearAttention(Fact):
    """Layers that keep a recurrent state (gated delta net): head counts and sizes in elements."""

    layers: int
    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    conv_kernel: int


class Model(Fact):
    """One model. Counts are elements, lengths tokens. ``parameters`` is what a server loads (no draft layers)."""

    name: str
    aliases: tuple[str, ...] = ()
    """Other spellings of this checkpoint's id."""
    same_shape: tuple[str, ...] = ()
    """Other checkpoints with these dimensions: base, later or tuned versions."""
    layers: int
    hidden_size: int
    intermediate_size: int
    vocab_size: int
    attention_heads: int
    kv_heads: int
    head_dim: int
    max_context_tokens: int
    parameters: int
    weights_dtype: WeightsDtype = "bf16"
    attention: AttentionKind = "gqa"
    sliding_window_tokens: int | None = None
    """Window (or chunk) of the sliding layers."""
    sliding_layers: int = 0
    global_head_dim: int | None = None
    global_kv_heads: int | None = None
    """Head size and KV heads of the full-attention layers where they differ from the sliding ones (Gemma 4)."""
    global_shares_key_value: bool = False
    """Whether the full-attention layers have no value projection of their own (values are the keys)."""
    mla: LatentAttention | None = None
    linear_attention: LinearAttention | None = None
    moe: MixtureOfExperts | None = None
    tied_embeddings: bool = False
    gated_mlp: bool = True
    """Three matrices an MLP (gate, up, down); False: two."""
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: bool = False
    attention_gate: bool = False
    """Whether the query projection also yields a gate as wide as the queries (Qwen3-Next)."""
    attention_sinks: bool = False
    norms_per_layer: int = 2
    rope_cache_tokens: int | None = None
    """Positions of vLLM's rotary tables where they are not ``max_context_tokens`` (linear scaling multiplies them)."""
    other_parameters: int = 0
    """Parameters outside the text model: vision tower, projector. Not quantised."""
    text_only: bool = True
    """False for multimodal models: vLLM's profile run also encodes images."""
    draft_layers: int = 0
    """Multi-token-prediction layers in the checkpoint; loaded only with speculative decoding."""
    needs_trust_remote_code: bool = False
    generates: bool = True
    """False for embedding models and rerankers."""
    source: str

    @model_validator(mode="after")
    def _parts_agree(self) -> Model:
        if self.attention == "mla" and self.mla is None:
            raise ValueError(f"{self.name}: attention mla needs the mla fields")
        if self.attention == "hybrid-gdn" and self.linear_attention is None:
            raise ValueError(f"{self.name}: attention hybrid-gdn needs the linear_attention fields")
        if self.sliding_layers and self.sliding_window_tokens is None:
            raise ValueError(f"{self.name}: sliding layers need sliding_window_tokens")
        if self.full_attention_layers < 0:
            raise ValueError(f"{self.name}: more sliding and linear layers than layers")
        return self

    @property
    def full_attention_layers(self) -> int:
        """Layers whose cache grows with the whole context."""
        return self.layers - self.sliding_layers - (self.linear_attention.layers if self.linear_attention else 0)

    @property
    def active_parameters(self) -> int:
        """Parameters that one token passes through: all but the experts it is not routed to."""
        if self.moe is None:
            return self.parameters
        matrices = 3 if self.gated_mlp else 2
        expert = matrices * self.hidden_size * self.moe.expert_intermediate_size
        return self.parameters - self.moe.layers * (self.moe.experts - self.moe.experts_per_token) * expert


@cache
def models() -> dict[str, Model]:
    """All models of the table by name (without aliases and quantised variants)."""
    return {row["name"]: Model.model_validate(row) for row in load_yaml("models.yaml")["models"]}


def _spellings(row: Model) -> tuple[str, ...]:
    return (row.name, *row.aliases, *row.same_shape)


@cache
def _index() -> dict[str, tuple[str, str]]:
    """Folded spelling → (row, id): full ids first, then bare names, then family names; the first row wins."""
    index: dict[str, tuple[str, str]] = {}
    for fold in (str.lower, bare_name, family_name):
        for row in models().values():
            for spelling in _spellings(row):
                index.setdefault(fold(spelling), (row.name, row.name if spelling in row.aliases else spelling))
    return index


@cache
def model(name: str) -> Model:
    """The model called ``name``: a Hugging Face id, an alias, a folder that ends in one, in any case.

    A checkpoint of the same shape keeps its own id as ``name``. A quantised variant of a known model
    (``Qwen/Qwen3-14B-AWQ``) is that model with the variant's ``weights_dtype``.

    Raises:
        UnknownFactError: the catalog has no such model; close matches are named.
    """
    index = _index()
    found = index.get(name.lower()) or index.get(bare_name(name))
    dtype = None if found else quantisation_of(name)
    found = found or index.get(family_name(name))
    if found is None:
        known = (spelling for row in models().values() for spelling in _spellings(row))
        raise unknown("model", name, known, "For another model give the path of its Hugging Face config.json.")
    row, identity = models()[found[0]], found[1]
    if dtype:
        return row.model_copy(update={"name": name, "aliases": (), "same_shape": (), "weights_dtype": dtype})
    return row if identity == row.name else row.model_copy(update={"name": identity, "aliases": (), "same_shape": ()})
