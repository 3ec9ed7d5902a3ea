"""Models from config.json: the same as the table's where the table has them, and clear errors elsewhere."""

from __future__ import annotations

import json
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from catalog.facts import UnknownFactError
from catalog.huggingface_config import (
    ConfigError,
    find_model,
    model_from_config,
    model_from_file,
    model_from_hub,
)
from catalog.models import Model, model

# The fields of each model's own config.json that decide its size; defaults of transformers are left out as there.
CONFIGS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "configs.json").read_text(encoding="utf-8")
)
LLAMA = CONFIGS["meta-llama/Llama-3.1-8B-Instruct"]
SHAPE = (
    "layers",
    "hidden_size",
    "attention_heads",
    "kv_heads",
    "head_dim",
    "vocab_size",
    "max_context_tokens",
    "attention",
    "weights_dtype",
    "sliding_layers",
    "mla",
    "linear_attention",
    "moe",
    "tied_embeddings",
    "draft_layers",
    "full_attention_layers",
    "active_parameters",
)


def described(config: dict[str, Any]) -> Model:
    return model_from_config(config, name="m", origin="config.json")


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_gives_the_table_s_model(name: str) -> None:
    found, known = described(CONFIGS[name]), model(name)
    differing = {field for field in SHAPE if getattr(found, field) != getattr(known, field)}
    if known.draft_layers != found.draft_layers or found.parameters != known.parameters:
        assert found.parameters == pytest.approx(known.parameters, rel=1e-6)  # router biases
        differing -= {"active_parameters"}
    assert differing - {"draft_layers"} == set()


def test_a_multimodal_config_nests_its_text_model() -> None:
    text = CONFIGS["google/gemma-2-9b-it"] | {
        "model_type": "gemma3_text",
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }
    found = described(
        {"model_type": "gemma3", "vision_config": {}, "text_config": text | {"rope_local_base_freq": 10000}}
    )
    assert not found.text_only
    assert (found.layers, found.sliding_layers) == (42, 35)
    assert found.rope_cache_tokens == 9 * 8192


@pytest.mark.parametrize(
    ("quantisation", "dtype"),
    [
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "nf4"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"a": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
        ),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 8, "type": "int"}}}},
            "int8",
        ),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 4, "type": "int"}}}},
            "int4",
        ),
    ],
)
def test_quantisation_decides_the_weights(quantisation: dict[str, Any], dtype: str) -> None:
    assert described(LLAMA | {"quantization_config": quantisation}).weights_dtype == dtype


def test_defaults_of_old_configs() -> None:
    found = described({key: value for key, value in LLAMA.items() if key not in ("num_key_value_heads", "torch_dtype")})
    assert (found.kv_heads, found.head_dim, found.weights_dtype) == (32, 128, "bf16")


@pytest.mark.parametrize(
    "field", ["num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size", "max_position_embeddings"]
)
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(ConfigError, match=field):
        described({key: value for key, value in LLAMA.items() if key != field})


def test_a_folder_and_the_cache_hold_config_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    snapshot = tmp_path / "hub" / "models--acme--tiny" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    assert model_from_hub("acme/tiny").name == "acme/tiny"
    assert find_model("acme/tiny").layers == model_from_file(snapshot).layers == 32


def test_without_cache_and_hub_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    with pytest.raises(UnknownFactError, match=r"config\.json, or set HF_ENDPOINT"):
        find_model("acme/unheard-of-9b")


@pytest.mark.parametrize("endpoint", ["file:///etc", "http://127.0.0.1:9"])
def test_a_hub_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    with pytest.raises(ConfigError, match=r"HF_ENDPOINT is|cannot get"):
        model_from_hub("acme/tiny")


def test_a_hub_on_loopback_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "acme" / "tiny" / "resolve" / "main" / "config.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(LLAMA), encoding="utf-8")
    (tmp_path / "acme" / "broken" / "resolve" / "main").mkdir(parents=True)
    (tmp_path / "acme" / "broken" / "resolve" / "main" / "config.json").write_text("<html>", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        monkeypatch.setenv("HF_HOME", str(tmp_path / "no-cache"))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        assert model_from_hub("acme/tiny").layers == 32
        with pytest.raises(ConfigError, match="is no JSON"):
            model_from_hub("acme/broken")
        with pytest.raises(ConfigError, match="cannot get"):
            model_from_hub("acme/absent")
    finally:
        server.shutdown()
        server.server_close()
