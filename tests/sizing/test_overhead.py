"""Overheads against the parts that vLLM logged. Only rows marked `fitted` gave a constant; the others are held out."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import model
from catalog.vllm_versions import vllm_version
from sizing.deployment import Deployment, GpuMemory, deployment
from sizing.overhead import Overhead, overhead

H100 = GpuMemory(79.19, "hopper")


def parts(config: Deployment, *, first: bool = True, last: bool = True) -> Overhead:
    return overhead(config, first_stage=first, last_stage=last)


def serve(name: str, version: str, **flags: Any) -> Deployment:
    flags = {"max_model_len": 8192} | flags
    return deployment(model(name), flags.pop("gpu", H100), vllm_version(version), **flags)


@pytest.mark.parametrize(
    ("name", "version", "logged_gib"),
    [
        ("codellama/CodeLlama-7b-hf", "0.19.0", 0.77),
        ("google/gemma-7b", "0.19.0", 3.63),
        ("google/gemma-2-9b-it", "0.19.0", 3.65),
        ("google/gemma-2-27b-it", "0.19.0", 3.66),
        ("google/gemma-3-4b-it", "0.19.0", 3.89),
        ("google/gemma-3-12b-it", "0.19.0", 3.94),
        ("google/gemma-3-27b-it", "0.19.0", 3.99),
        ("meta-llama/Llama-3.1-8B-Instruct", "0.19.0", 1.89),
        ("openai/gpt-oss-20b", "0.19.0", 2.87),
        ("Qwen/Qwen1.5-MoE-A2.7B", "0.19.0", 2.47),
        ("Qwen/Qwen3-8B", "0.19.0", 2.21),
        ("Qwen/Qwen3-14B", "0.17.0", 2.23),
        ("Qwen/Qwen3-14B", "0.15.0", 5.64),
        ("meta-llama/Llama-3.1-8B-Instruct", "0.11.0", 4.76),
        ("Qwen/Qwen3-0.6B", "0.11.0", 5.56),
        ("Qwen/Qwen3-32B", "0.11.0", 5.64),
        ("openai/gpt-oss-20b", "0.11.0", 7.38),
    ],
)
def test_the_profile_peak_follows_from_the_tensors(name: str, version: str, logged_gib: float) -> None:
    assert parts(serve(name, version)).activation_gib == pytest.approx(logged_gib, abs=0.03)


def test_only_the_last_stage_samples() -> None:
    config = serve("meta-llama/Llama-3.1-8B-Instruct", "0.19.0", pipeline_parallel=2)
    first = parts(config, last=False).activation_gib
    last = parts(config, first=False).activation_gib
    assert first == pytest.approx(1.10, abs=0.05)  # LDP25, as rank 0 printed
    assert last == pytest.approx(2.01, abs=0.03)  # LDP25's second rank (facts/vllm-memory.md section 0)


def test_v0_profiles_the_whole_context_without_chunked_prefill() -> None:
    short, long = (
        parts(serve("meta-llama/Llama-3.1-8B-Instruct", "0.6.3", gpu=GpuMemory(23.58), max_model_len=tokens))
        for tokens in (20000, 29000)
    )
    assert long.activation_gib - short.activation_gib == pytest.approx(0.92, abs=0.03)  # ISS01 and ISS02


def test_fewer_sequences_shrink_the_sampler() -> None:
    many, few = (parts(serve("Qwen/Qwen3-8B", "0.11.0", max_num_seqs=count)).activation_gib for count in (1024, 64))
    assert many - few > 3


def test_eager_mode_has_neither_graphs_nor_compilation() -> None:
    compiled, eager = (parts(serve("Qwen/Qwen3-8B", "0.33.0", enforce_eager=flag)) for flag in (False, True))
    assert compiled.cuda_graphs_gib > 0
    assert compiled.start_up_gib > 0
    assert eager.cuda_graphs_gib == eager.start_up_gib == 0


@pytest.mark.parametrize("version", ["0.19.0", "0.33.0"])
def test_links_decide_what_communication_takes(version: str) -> None:
    linked, plain = (
        parts(serve("Qwen/Qwen3-8B", version, tensor_parallel=2, gpu=GpuMemory(79.19, "hopper", has_nvlink=nvlink)))
        for nvlink in (True, False)
    )
    assert linked.communication_gib > plain.communication_gib
