"""The model table: dimensions reproduce published counts, and names reach the right row."""

from __future__ import annotations

import pytest

from catalog.facts import UnknownFactError
from catalog.models import Model, model, models
from catalog.parameters import count_parameters

# Vision towers that are known only in round figures.
ROUND_FIGURES = {"Qwen/Qwen3.5-27B", "Qwen/Qwen3.5-35B-A3B", "google/gemma-4-26B-A4B-it"}


@pytest.mark.parametrize("row", models().values(), ids=lambda row: row.name)
def test_dimensions_give_the_published_parameter_count(row: Model) -> None:
    tolerance = 1e-3 if row.name in ROUND_FIGURES else 5e-6  # router score biases are not modelled
    assert count_parameters(row).total == pytest.approx(row.parameters, rel=tolerance)


@pytest.mark.parametrize(
    ("name", "active_billions"),
    [
        ("Qwen/Qwen3-235B-A22B", 22),
        ("deepseek-ai/DeepSeek-R1", 37.5),
        ("Mixtral-8x7B-Instruct-v0.1", 12.9),
        ("openai/gpt-oss-120b", 5.1 + 0.6),
    ],
)
def test_active_parameters_are_the_published_ones(name: str, active_billions: float) -> None:
    # gpt-oss's published 5.1 B leaves out the input embedding (0.6 B).
    assert model(name).active_parameters / 1e9 == pytest.approx(active_billions, rel=0.02)


@pytest.mark.parametrize(
    ("spelling", "name", "weights_dtype"),
    [
        ("meta-llama/Meta-Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-70B-Instruct", "bf16"),
        ("llama-3.1-70b", "meta-llama/Llama-3.1-70B-Instruct", "bf16"),
        ("/models/Qwen3-32B/", "Qwen/Qwen3-32B", "bf16"),
        ("Qwen/Qwen3-14B-AWQ", "Qwen/Qwen3-14B", "int4"),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "Qwen/Qwen2.5-72B-Instruct", "int4"),
        ("ISTA-DASLab/gemma-3-27b-it-GPTQ-4b-128g", "google/gemma-3-27b-it", "int4"),
        ("RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "meta-llama/Llama-3.1-70B-Instruct", "fp8"),
        ("RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w4a16", "meta-llama/Llama-3.1-70B-Instruct", "int4"),
        ("nvidia/Llama-3.3-70B-Instruct-NVFP4", "meta-llama/Llama-3.1-70B-Instruct", "nvfp4"),
        ("RedHatAI/Qwen2.5-7B-Instruct-quantized.w8a8", "Qwen/Qwen2.5-7B-Instruct", "int8"),
        ("unsloth/qwen2.5-0.5b-instruct-unsloth-bnb-4bit", "Qwen/Qwen2.5-0.5B-Instruct", "nf4"),
        ("Llama-3.2-3B-Instruct-Q8_0.gguf", "meta-llama/Llama-3.2-3B-Instruct", "q8_0"),
        ("Qwen3-Next-80B-A3B W4A16", "Qwen/Qwen3-Next-80B-A3B-Instruct", "int4"),
    ],
)
def test_names_in_many_spellings_reach_one_row(spelling: str, name: str, weights_dtype: str) -> None:
    found = model(spelling)
    assert found.weights_dtype == weights_dtype
    base = models()[name]
    assert (found.layers, found.hidden_size, found.parameters) == (base.layers, base.hidden_size, base.parameters)


def test_a_tuned_variant_keeps_its_own_context() -> None:
    assert model("Qwen/Qwen3-4B-Instruct-2507").max_context_tokens == 262144
    assert model("Qwen/Qwen3-4B").max_context_tokens == 40960


def test_an_unknown_model_names_close_matches() -> None:
    with pytest.raises(UnknownFactError, match=r"Llama-3\.1-70B-Instruct.*config\.json"):
        model("meta-lama/Lama-3.1-70B-Instrukt")


def test_no_two_rows_answer_to_one_spelling() -> None:
    spellings = [
        spelling.lower() for row in models().values() for spelling in (row.name, *row.aliases, *row.same_shape)
    ]
    assert len(spellings) == len(set(spellings))


def test_an_alias_is_one_checkpoint_and_a_same_shape_another() -> None:
    assert model("meta-llama/Meta-Llama-3.1-70B-Instruct").name == "meta-llama/Llama-3.1-70B-Instruct"
    assert model("meta-llama/Llama-3.3-70B-Instruct").name == "meta-llama/Llama-3.3-70B-Instruct"
    assert model("deepseek-ai/deepseek-r1").name == "deepseek-ai/DeepSeek-R1"
