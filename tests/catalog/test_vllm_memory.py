"""Which generation of vLLM's memory behaviour a version has, and its batch defaults (facts/serving.md section 1.2)."""

from __future__ import annotations

import pytest
from packaging.version import Version

from catalog.gpus import gpu, gpus
from catalog.vllm_memory import batch_defaults, generations, memory_generation
from catalog.vllm_versions import vllm_version


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("0.6.3", "v0"),
        ("0.9.2", "v1-sort"),
        ("0.11.0rc2.dev98+g393de22d2", "v1-sort"),
        ("0.19.0", "v1-topk"),
        ("0.20.0", "v1-graphs"),
        ("0.20.1", "v1-requests"),
        ("0.28.0", "v2"),
        ("0.33.0", "v2-warm"),
    ],
)
def test_a_version_s_generation(version: str, name: str) -> None:
    assert memory_generation(vllm_version(version)).name == name


def test_the_new_runner_came_later_for_experts() -> None:
    assert memory_generation(vllm_version("0.28.0"), mixture_of_experts=True).name == "v1-requests"
    assert memory_generation(vllm_version("0.30.0"), mixture_of_experts=True).name == "v2-graphs"


def test_versions_with_two_engines_ask_which() -> None:
    assert memory_generation(vllm_version("0.8.3"), engine="V0").name == "v0"
    assert memory_generation(vllm_version("0.8.3"), engine="V1").name == "v1-sort"


def test_generations_are_in_order() -> None:
    versions = [Version(row.since) for row in generations()]
    assert versions == sorted(versions)


@pytest.mark.parametrize(
    ("version", "name", "tokens", "sequences"),
    [
        ("0.33.0", "H100", 8192, 1024),
        ("0.33.0", "B200", 16384, 1024),
        ("0.33.0", "A100-80GB", 2048, 256),
        ("0.33.0", "L4", 2048, 256),
        ("0.26.0", "B200", 8192, 1024),
        ("0.6.3", "H100", 2048, 256),
    ],
)
def test_batch_defaults_by_gpu(version: str, name: str, tokens: int, sequences: int) -> None:
    found = batch_defaults(vllm_version(version), gpu(name).memory_gib, gpu(name).architecture)
    assert (found.max_num_batched_tokens, found.max_num_seqs) == (tokens, sequences)


def test_gpu_rates_are_of_one_piece() -> None:
    for row in gpus().values():
        assert row.native_fp8 == (row.fp8_tflops is not None), row.name
        assert row.memory_gib <= row.nominal_gb, row.name
        assert row.bf16_tflops is None or row.fp8_tflops is None or row.fp8_tflops >= row.bf16_tflops, row.name
