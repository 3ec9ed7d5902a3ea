"""Weights a GPU against what vLLM logged after loading."""

from __future__ import annotations

import pytest

from catalog.models import model
from catalog.vllm_versions import vllm_version
from sizing.deployment import GpuMemory, deployment
from sizing.weights import checkpoint_gib, stage_weights

H100 = GpuMemory(79.19, "hopper")


def weights(name: str, tp: int = 1, pp: int = 1, dtype: str | None = None) -> tuple[float, float]:
    described = model(name)
    if dtype:
        described = described.model_copy(update={"weights_dtype": dtype})
    config = deployment(
        described, H100, vllm_version("0.19.0"), tensor_parallel=tp, pipeline_parallel=pp, max_model_len=4096
    )
    found = stage_weights(config)
    return found.first_gib, found.last_gib


@pytest.mark.parametrize(
    ("row", "name", "tp", "pp", "dtype", "logged_gib"),
    [
        ("LDP01", "codellama/CodeLlama-7b-hf", 1, 1, None, 12.56),
        ("LDP24", "meta-llama/Llama-3.1-8B-Instruct", 1, 1, None, 14.99),
        ("LDP19: embeddings stay in 16 bit", "meta-llama/Llama-3.1-8B-Instruct", 1, 1, "fp8", 8.49),
        ("LDP21: rotary tables in 32 bit", "meta-llama/Llama-3.1-8B-Instruct", 1, 1, "fp32", 29.98),
        ("LDP27", "meta-llama/Llama-3.1-8B-Instruct", 2, 1, None, 7.51),
        ("LDP28", "meta-llama/Llama-3.1-8B-Instruct", 4, 1, None, 3.77),
        ("LDP26: the first stage holds the embedding", "meta-llama/Llama-3.1-8B-Instruct", 1, 4, None, 4.26),
        ("LDP10: rotary tables of eight times the context", "google/gemma-3-27b-it", 1, 1, None, 51.45),
        ("LDP43", "Qwen/Qwen1.5-MoE-A2.7B", 1, 1, None, 26.67),
        ("LDP45", "Qwen/Qwen2.5-72B-Instruct", 2, 1, None, 67.8),
        ("ISS09: padded experts", "openai/gpt-oss-120b", 1, 1, None, 65.9651),
        ("ISS07: latent projections on every rank", "deepseek-ai/DeepSeek-V3", 16, 1, "int4", 21.21),
        ("FIL01: groups of 128", "mistralai/Mistral-7B-Instruct-v0.2", 1, 1, "int4", 3.8844),
    ],
    ids=lambda value: value if isinstance(value, str) and ":" in value else None,
)
def test_predicted_weights_are_the_logged_ones(
    row: str, name: str, tp: int, pp: int, dtype: str | None, logged_gib: float
) -> None:
    assert weights(name, tp, pp, dtype)[0] == pytest.approx(logged_gib, rel=0.005)


def test_awq_of_qwen3_14b_is_within_two_percent_of_its_log() -> None:
    # FIL08 logs 9.44 GiB; groups, zero points and embeddings explain 9.30 of it.
    assert weights("Qwen/Qwen3-14B-AWQ")[0] == pytest.approx(9.44, rel=0.02)


def test_replicated_kv_heads_cost_memory_on_every_rank() -> None:
    # Four KV heads over eight ranks: each rank holds a whole one, twice its even share.
    config = model("Qwen/Qwen3-235B-A22B")
    extra = config.layers * 2 * config.hidden_size * config.head_dim * (8 - 4) / 8 * 2 / 2**30
    even = checkpoint_gib(config) / 8
    assert weights(config.name, tp=8)[0] - even == pytest.approx(extra, abs=0.1)


def test_a_tied_head_is_held_by_both_outer_stages() -> None:
    first, last = weights("google/gemma-2-9b-it", pp=2)
    assert first == pytest.approx(last, rel=1e-6)
