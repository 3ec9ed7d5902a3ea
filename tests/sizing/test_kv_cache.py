"""Cache layouts against logs: the tokens that vLLM printed for the memory that it printed."""

from __future__ import annotations

import pytest

from catalog.models import model
from catalog.vllm_versions import vllm_version
from sizing.deployment import Deployment, GpuMemory, deployment
from sizing.kv_cache import cache_capacity, cache_layout

H100 = GpuMemory(79.19, "hopper")
# Memory is printed with two digits.
HALF_DIGIT_GIB = 0.005


def config(
    name: str,
    *,
    tp: int = 1,
    pp: int = 1,
    kv: str = "auto",
    length: int = 8192,
    version: str = "0.19.0",
    draft: int = 0,
) -> Deployment:
    return deployment(
        model(name),
        H100,
        vllm_version(version),
        tensor_parallel=tp,
        pipeline_parallel=pp,
        kv_dtype=kv,
        max_model_len=length,
        max_num_batched_tokens=8192,
        draft_layers=draft,
    )


@pytest.mark.parametrize(
    ("row", "name", "arguments", "available_gib", "tokens", "concurrency"),
    [
        ("LDP24", "meta-llama/Llama-3.1-8B-Instruct", {}, 58.11, 476016, 58.11),
        ("LDP17", "meta-llama/Llama-3.1-8B-Instruct", {"kv": "fp8"}, 58.11, 952032, 116.21),
        ("LDP28", "meta-llama/Llama-3.1-8B-Instruct", {"tp": 4}, 67.44, 2209792, 269.75),
        ("LDP25: the worst rank", "meta-llama/Llama-3.1-8B-Instruct", {"pp": 2}, 65.63, 1075312, 131.26),
        ("LDP43", "Qwen/Qwen1.5-MoE-A2.7B", {}, 45.83, 250304, 30.55),
        ("LDP06: equal groups", "google/gemma-2-27b-it", {}, 20.59, 58672, 7.16),
        ("LDP09: 8 full, 40 sliding", "google/gemma-3-12b-it", {}, 47.72, 130304, 15.88),
        ("LDP10: padded groups", "google/gemma-3-27b-it", {}, 19.53, 36560, 4.46),
        ("LDP11: 5 full, 29 sliding", "google/gemma-3-4b-it", {}, 62.51, 468144, 57.05),
        ("LDP42", "openai/gpt-oss-20b", {"tp": 2}, 59.32, 2591776, 316.07),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_printed_memory_gives_the_printed_tokens(
    row: str, name: str, arguments: dict[str, int], available_gib: float, tokens: int, concurrency: float
) -> None:
    deployed = config(name, **arguments)  # type: ignore[arg-type]
    least, most = (cache_capacity(deployed, available_gib + error) for error in (-HALF_DIGIT_GIB, HALF_DIGIT_GIB))
    assert least.tokens <= tokens <= most.tokens
    assert least.concurrency(8192) - 0.01 <= concurrency <= most.concurrency(8192) + 0.01


def test_newer_versions_print_tokens_by_whole_requests() -> None:
    # FIL37 (0.27.1): 16.63 GiB of a gated-delta-net hybrid. An estimate: within 3 %.
    capacity = cache_capacity(config("Qwen/Qwen3-Next-80B-A3B-Instruct", length=65536, version="0.27.1"), 16.63)
    assert capacity.layout.is_estimate
    assert capacity.tokens == pytest.approx(708425, rel=0.03)


def test_a_latent_is_on_every_rank() -> None:
    whole = cache_layout(config("deepseek-ai/DeepSeek-V3")).bytes_per_token
    split = cache_layout(config("deepseek-ai/DeepSeek-V3", tp=8)).bytes_per_token
    assert whole == split == 61 * (512 + 64) * 2


def test_heads_are_replicated_where_ranks_outnumber_them() -> None:
    four, eight = (cache_layout(config("Qwen/Qwen3-235B-A22B", tp=size)).bytes_per_token for size in (4, 8))
    assert four == eight == 94 * 2 * 128 * 2


def test_draft_layers_join_the_pool() -> None:
    plain, drafted = (
        cache_layout(config("meta-llama/Llama-3.1-8B-Instruct", draft=count)).bytes_per_token for count in (0, 1)
    )
    assert drafted / plain == 33 / 32  # vllm: 32 layers and one EAGLE layer (facts/vllm-memory.md, ISS15)


def test_chunked_local_attention_holds_one_chunk() -> None:
    layout = cache_layout(config("meta-llama/Llama-4-Scout-17B-16E-Instruct", tp=4))
    assert (layout.full_groups, layout.sliding_groups) == (1, 3)
    assert layout.blocks_per_request(1_000_000) == 62_500 + 3 * (8192 + 8192) // 16


def test_v0_caches_every_layer_in_full() -> None:
    layout = cache_layout(config("google/gemma-2-27b-it", version="0.6.3"))
    assert layout.groups == 1
    assert layout.bytes_per_token == 46 * 2 * 16 * 128 * 2


def test_older_versions_print_a_hybrid_s_blocks_over_its_groups() -> None:
    # vllm 0.19.0 _report_kv_cache_config: blocks // groups x the smallest block; three groups hold states, one a cache.
    capacity = cache_capacity(config("Qwen/Qwen3-Next-80B-A3B-Instruct", length=65536), 16.63)
    assert capacity.layout.groups == 4
    assert capacity.tokens == capacity.blocks // 4 * capacity.layout.full_block_tokens
