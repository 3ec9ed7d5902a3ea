"""A model from a Hugging Face ``config.json``: a file, a folder, or an id where a cache or hub is reachable.

Only field names and defaults of transformers' own config classes are relied on. No dependency on huggingface_hub:
the cache is a folder tree, the hub one HTTPS request to ``HF_ENDPOINT``, which must be set on purpose.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from catalog.facts import UnknownFactError
from catalog.models import (
    AttentionKind,
    LatentAttention,
    LinearAttention,
    MixtureOfExperts,
    Model,
    WeightsDtype,
    model,
)
from catalog.parameters import count_parameters

_HUB_TIMEOUT_SECONDS = 10
_DTYPES: dict[str, WeightsDtype] = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp16"}
"""Stored dtype → served dtype: vLLM's ``--dtype auto`` serves float32 checkpoints in 16 bit."""
_ENCODERS = {"bert", "roberta", "xlm-roberta", "modernbert", "nomic_bert", "new"}
_QKV_BIAS_BY_DEFAULT = {"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "gpt_oss", *_ENCODERS}
_QK_NORM = {"qwen3", "qwen3_moe", "qwen3_next", "qwen3_5", "qwen3_5_moe", "gemma3", "gemma3_text", "olmo2"}
_TIED_BY_DEFAULT = {"gemma", "gemma2", "gemma3", "gemma3_text", "gemma4", "gemma4_text"}


class ConfigError(ValueError):
    """A config.json that can't be used: which file, what is wrong, what is needed."""


class _Fields:
    """Access to a config's fields with errors that name the file and the field."""

    def __init__(self, values: dict[str, Any], origin: str) -> None:
        self.values, self.origin = values, origin

    def optional(self, *names: str) -> int | None:
        for name in names:
            value = self.values.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise ConfigError(f"{self.origin}: {name} is {value!r}: a whole number is needed")
            if value < 0:
                raise ConfigError(f"{self.origin}: {name} is {value}: it can't be negative")
            return value
        return None

    def required(self, *names: str) -> int:
        value = self.optional(*names)
        if not value:
            raise ConfigError(f"{self.origin} has no {' or '.join(names)}: is it the config.json of a language model?")
        return value


def _weights_dtype(config: dict[str, Any], text: dict[str, Any], origin: str) -> WeightsDtype:
    quantisation = (
        config.get("quantization_config") or text.get("quantization_config") or config.get("compression_config")
    )
    if not quantisation:
        stored = str(
            text.get("torch_dtype")
            or text.get("dtype")
            or config.get("torch_dtype")
            or config.get("dtype")
            or "bfloat16"
        )
        return _DTYPES.get(stored.removeprefix("torch."), "bf16")
    method = str(quantisation.get("quant_method", "")).lower()
    if method == "compressed-tensors":
        groups = (quantisation.get("config_groups") or {}).values()
        bits = {int((group.get("weights") or {}).get("num_bits", 16)) for group in groups}
        kinds = {str((group.get("weights") or {}).get("type", "int")) for group in groups}
        floating = kinds == {"float"}
        found: WeightsDtype = ("nvfp4" if floating else "int4") if bits == {4} else "fp8" if floating else "int8"
        return found
    if method in ("fp8", "fbgemm_fp8", "modelopt"):
        return "nvfp4" if "FP4" in str(quantisation.get("quant_algo", "")).upper() else "fp8"
    if method == "mxfp4":
        return "mxfp4"
    if method == "bitsandbytes":
        return "nf4" if quantisation.get("load_in_4bit") or quantisation.get("_load_in_4bit") else "int8"
    if method in ("awq", "gptq", "auto-round", "auto_round", "intel/auto-round"):
        return "int8" if int(quantisation.get("bits", quantisation.get("w_bit", 4))) == 8 else "int4"
    raise ConfigError(
        f"{origin}: quant_method {method!r} is not known here; known: awq, gptq, auto-round, fp8, fbgemm_fp8, "
        "modelopt, mxfp4, bitsandbytes, compressed-tensors"
    )


def _sliding(
    text: dict[str, Any], fields: _Fields, layers: int, model_type: str
) -> tuple[int, int | None, AttentionKind | None]:
    """(sliding layers, window in tokens, attention kind) of hybrids; (0, None, None) elsewhere."""
    chunk = fields.optional("attention_chunk_size")
    if chunk and model_type.startswith("llama4"):
        full = fields.optional("no_rope_layer_interval") or 4  # every fourth layer attends to everything
        return layers - layers // full, chunk, "hybrid-chunked"
    window = fields.optional("sliding_window")
    kinds = text.get("layer_types")
    if isinstance(kinds, list):
        sliding = sum(kind == "sliding_attention" for kind in kinds)
    elif pattern := fields.optional("sliding_window_pattern", "_sliding_window_pattern"):
        sliding = layers - layers // pattern
    elif model_type == "gemma2":
        sliding = layers // 2 + layers % 2
    elif model_type.startswith("gemma3"):
        sliding = layers - layers // 6
    else:
        # Qwen2 names a window and switches it off; Mistral 0.1 has one for all layers, which full attention bounds.
        sliding = 0
    return (sliding, window, "hybrid-swa") if sliding and window else (0, None, None)


def _mixture(
    text: dict[str, Any], fields: _Fields, layers: int, intermediate: int, model_type: str
) -> MixtureOfExperts | None:
    experts = fields.optional("n_routed_experts", "num_local_experts", "num_experts")
    if not experts:
        return None
    width = fields.optional("moe_intermediate_size") or intermediate
    shared = fields.optional("shared_expert_intermediate_size")
    if shared is None:
        shared = width * (fields.optional("n_shared_experts") or (1 if model_type.startswith("llama4") else 0))
    step = fields.optional("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq") or 1
    dense = fields.optional("first_k_dense_replace") or 0
    return MixtureOfExperts(
        experts=experts,
        experts_per_token=fields.optional("num_experts_per_tok", "moe_topk") or 2,
        expert_intermediate_size=width,
        shared_intermediate_size=shared,
        layers=(layers - dense) // step,
        expert_bias=model_type == "gpt_oss",
        shared_gate="shared_expert_intermediate_size" in text,
    )


def _latent(fields: _Fields) -> LatentAttention | None:
    rank = fields.optional("kv_lora_rank")
    if not rank:
        return None
    return LatentAttention(
        q_lora_rank=fields.optional("q_lora_rank"),
        kv_lora_rank=rank,
        qk_nope_head_dim=fields.required("qk_nope_head_dim"),
        qk_rope_head_dim=fields.required("qk_rope_head_dim"),
        v_head_dim=fields.required("v_head_dim"),
    )


def _linear(text: dict[str, Any], fields: _Fields, layers: int) -> LinearAttention | None:
    value_heads = fields.optional("linear_num_value_heads")
    if not value_heads:
        return None
    kinds = text.get("layer_types")
    interval = fields.optional("full_attention_interval") or 4
    count = (
        sum(kind == "linear_attention" for kind in kinds) if isinstance(kinds, list) else layers - layers // interval
    )
    return LinearAttention(
        layers=count,
        key_heads=fields.required("linear_num_key_heads"),
        value_heads=value_heads,
        key_head_dim=fields.required("linear_key_head_dim"),
        value_head_dim=fields.required("linear_value_head_dim"),
        conv_kernel=fields.optional("linear_conv_kernel_dim") or 4,
    )


def _rope_cache_tokens(text: dict[str, Any], context: int) -> int | None:
    scaling = text.get("rope_scaling")
    if not isinstance(scaling, dict) or (scaling.get("rope_type") or scaling.get("type")) != "linear":
        return None
    # Gemma 3 keeps a scaled table for its full layers and a plain one for its sliding layers.
    return int(context * float(scaling.get("factor", 1))) + (context if "rope_local_base_freq" in text else 0)


def model_from_config(config: dict[str, Any], *, name: str, origin: str) -> Model:
    """The model that a parsed config.json describes, its parameters counted; ``origin`` names it in errors.

    Raises:
        ConfigError: fields are missing or of a wrong type, or the quantisation is not known.
    """
    nested = config.get("text_config") or config.get("llm_config") or config.get("language_config")
    text: dict[str, Any] = {**config, **nested} if isinstance(nested, dict) else config
    fields = _Fields(text, origin)
    model_type = str(text.get("model_type", ""))
    layers = fields.required("num_hidden_layers", "n_layer", "num_layers")
    hidden = fields.required("hidden_size", "n_embd", "d_model")
    heads = fields.required("num_attention_heads", "n_head")
    intermediate = fields.optional("intermediate_size_mlp", "intermediate_size", "ffn_dim", "n_inner") or 4 * hidden
    expert_width = fields.optional("intermediate_size") or intermediate
    sliding_layers, window, kind = _sliding(text, fields, layers, model_type)
    latent, linear = _latent(fields), _linear(text, fields, layers)
    attention: AttentionKind = "mla" if latent else "hybrid-gdn" if linear else kind or "gqa"
    head_dim = fields.optional("head_dim") or (
        latent.qk_nope_head_dim + latent.qk_rope_head_dim if latent else hidden // heads
    )
    encoder = model_type in _ENCODERS
    context = fields.optional("max_position_embeddings", "n_positions", "seq_length") or 0
    if context == 0:
        raise ConfigError(f"{origin} has no max_position_embeddings: the context length is unknown")
    described = Model(
        name=name,
        layers=layers,
        hidden_size=hidden,
        intermediate_size=intermediate,
        vocab_size=fields.required("vocab_size"),
        attention_heads=heads,
        kv_heads=fields.optional("num_key_value_heads", "num_kv_heads") or heads,
        head_dim=head_dim,
        max_context_tokens=context,
        parameters=0,
        weights_dtype=_weights_dtype(config, text, origin),
        attention=attention,
        sliding_window_tokens=window,
        sliding_layers=sliding_layers,
        mla=latent,
        linear_attention=linear,
        moe=_mixture(text, fields, layers, expert_width, model_type),
        tied_embeddings=bool(text.get("tie_word_embeddings", model_type in _TIED_BY_DEFAULT)),
        gated_mlp=not encoder and model_type not in ("gpt2", "opt", "gpt_neox", "falcon", "starcoder2"),
        qkv_bias=bool(text.get("attention_bias", model_type in _QKV_BIAS_BY_DEFAULT)),
        output_bias=model_type == "gpt_oss" or encoder,
        qk_norm=model_type in _QK_NORM,
        attention_gate=model_type.startswith(("qwen3_next", "qwen3_5")),
        attention_sinks=model_type == "gpt_oss",
        norms_per_layer=4 if model_type.startswith(("gemma2", "gemma3")) else 2,
        rope_cache_tokens=_rope_cache_tokens(text, context),
        text_only="vision_config" not in config,
        draft_layers=fields.optional("num_nextn_predict_layers") or 0,
        needs_trust_remote_code="auto_map" in config,
        generates=not encoder,
        source=origin,
    )
    return described.model_copy(update={"parameters": count_parameters(described).total})


def model_from_file(path: Path) -> Model:
    """The model of the config.json at ``path`` (or in the folder ``path``).

    Raises:
        ConfigError: the file can't be read, is no JSON object, or lacks fields.
    """
    file = path / "config.json" if path.is_dir() else path
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise ConfigError(f"{file} holds a {type(config).__name__}: a JSON object is needed")
    name = str(config.get("_name_or_path") or file.resolve().parent.name)
    return model_from_config(config, name=name, origin=str(file))


def _cached_config(name: str) -> Path | None:
    """The newest config.json of ``name`` in the local Hugging Face cache."""
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    snapshots = home / "hub" / f"models--{name.replace('/', '--')}" / "snapshots"
    found = sorted(snapshots.glob("*/config.json"), key=lambda file: file.stat().st_mtime)
    return found[-1] if found else None


def _hub_config(name: str, endpoint: str) -> dict[str, Any]:
    url = f"{endpoint.rstrip('/')}/{urllib.parse.quote(name)}/resolve/main/config.json"
    if not url.startswith(("https://", "http://")):
        raise ConfigError(f"HF_ENDPOINT is {endpoint!r}: an http or https address is needed")
    try:
        with urllib.request.urlopen(url, timeout=_HUB_TIMEOUT_SECONDS) as answer:  # noqa: S310 - the scheme is checked above
            config = json.load(answer)
    except (urllib.error.URLError, TimeoutError) as error:
        raise ConfigError(f"cannot get {url}: {getattr(error, 'reason', error)}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{url} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise ConfigError(f"{url} holds a {type(config).__name__}: a JSON object is needed")
    return config


def model_from_hub(name: str) -> Model:
    """The model called ``name`` from the local Hugging Face cache (``HF_HOME``), else from the hub at ``HF_ENDPOINT``.

    Raises:
        ConfigError: neither has it; the message says how to get it.
    """
    cached = _cached_config(name)
    if cached is not None:
        return model_from_file(cached).model_copy(update={"name": name})
    endpoint = os.environ.get("HF_ENDPOINT")
    if not endpoint:
        raise ConfigError(
            f"{name} is neither in the catalog nor in the local Hugging Face cache: give the path of its config.json, "
            "or set HF_ENDPOINT to a hub that this machine reaches"
        )
    return model_from_config(_hub_config(name, endpoint), name=name, origin=f"{endpoint}/{name}")


def find_model(text: str) -> Model:
    """The model that a person means by ``text``: a path to a config.json, a catalog name, or an id in a cache or hub.

    Raises:
        ConfigError: a path that can't be used.
        UnknownFactError: a name that nothing knows, with close matches.
    """
    path = Path(text)
    if text.endswith(".json") or (path.is_dir() and (path / "config.json").is_file()):
        return model_from_file(path)
    try:
        return model(text)
    except UnknownFactError as unknown:
        try:
            return model_from_hub(text)
        except ConfigError as error:
            raise UnknownFactError(f"{unknown} ({error})") from error
