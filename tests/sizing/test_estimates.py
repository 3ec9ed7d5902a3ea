"""Load times, roofline, cost, host memory, plan and the article's numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catalog.gpus import gpu
from catalog.instance_types import prices
from catalog.models import model
from catalog.vllm_versions import vllm_version
from sizing.cost import gpu_costs
from sizing.deployment import GpuMemory, deployment
from sizing.explain import explain
from sizing.hardware import hardware_of_instance
from sizing.load_time import cache_kinds, load_seconds, startup_budget_seconds
from sizing.plan import Load, plan
from sizing.roofline import (
    DECODE_BANDWIDTH_SHARE,
    DECODE_COMPUTE_SHARE,
    LAYER_OVERHEAD_SECONDS,
    MEASURED_ON,
    PREFILL_COMPUTE_SHARE,
    peaks,
)
from sizing.shm import required_shm_gib
from sizing.summary import summarize
from sizing.throughput import decode_step, prefill

MEASURED = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "h200-llama70b-shard.jsonl").read_text(encoding="utf-8").splitlines()
]
LLAMA_70B_LAYERS = 80


@pytest.mark.parametrize(
    "row",
    [row for row in MEASURED if "weights" in row],
    ids=lambda row: f"{row['weights']}-tp{row['tp']}-{row['batch']}",
)
def test_the_law_gives_every_measured_decode_step(row: dict[str, float]) -> None:
    peak = peaks(gpu(MEASURED_ON), "fp8" if row["weights"] == "fp8" else "bf16")
    read = (
        row["weight_GB"] * 1e9 / (DECODE_BANDWIDTH_SHARE * peak.bandwidth) + LLAMA_70B_LAYERS * LAYER_OVERHEAD_SECONDS
    )
    elements = row["weight_GB"] * 1e9 / (1 if peak.arithmetic == "fp8" else 2)
    computed = 2 * elements * row["batch"] / (DECODE_COMPUTE_SHARE[peak.arithmetic] * peak.operations)
    assert max(read, computed) * 1e3 == pytest.approx(row["step_ms"], rel=0.15)


@pytest.mark.parametrize(
    "row",
    [row for row in MEASURED if "prefill" in row],
    ids=lambda row: f"{row['prefill']}-tp{row['tp']}-{row['tokens']}",
)
def test_the_prefill_share_is_the_measured_one(row: dict[str, float]) -> None:
    peak = peaks(gpu(MEASURED_ON), "fp8" if row["prefill"] == "fp8" else "bf16")
    share = row["TFLOPs"] * 1e12 / peak.operations
    assert PREFILL_COMPUTE_SHARE[peak.arithmetic] == pytest.approx(share, rel=0.1)


def test_no_estimate_beats_its_bound() -> None:
    h100 = gpu("H100")
    for tp in (2, 4, 8):
        config = deployment(
            model("Llama-3.1-70B"), GpuMemory.of(h100), vllm_version("0.33.0"), tensor_parallel=tp, max_model_len=8192
        )
        for batch in (1, 32, 256):
            step = decode_step(config, h100, batch=batch, context_tokens=2048)
            assert step.seconds > step.bound_seconds
        filled = prefill(config, h100, tokens=4096)
        assert filled.seconds > filled.bound_seconds


def test_the_h100_estimate_of_the_facts() -> None:
    # facts/measured: 13.5 to 15.2 ms a step at TP 4, bf16, batch 32 to 128, matrices alone.
    h100 = gpu("H100")
    config = deployment(
        model("Llama-3.1-70B"), GpuMemory.of(h100), vllm_version("0.33.0"), tensor_parallel=4, max_model_len=8192
    )
    assert 12e-3 < decode_step(config, h100, batch=32, context_tokens=1).weights_seconds < 15.2e-3


def test_idle_experts_are_not_read() -> None:
    h200 = gpu("H200")
    config = deployment(
        model("Qwen3-235B-A22B"), GpuMemory.of(h200), vllm_version("0.33.0"), tensor_parallel=8, max_model_len=8192
    )
    one, many = (decode_step(config, h200, batch=batch, context_tokens=64).weights_seconds for batch in (1, 256))
    assert one < many / 2


def test_load_times_fall_with_faster_storage_and_budgets_exceed_them() -> None:
    for name in ("Qwen/Qwen3-8B", "Llama-3.1-70B", "Llama-3.1-405B", "DeepSeek-V3"):
        times = [load_seconds(model(name), kind) for kind in cache_kinds()]
        assert times == sorted(times)
        assert startup_budget_seconds(model(name)) >= times[-1]


def test_startup_budgets_of_the_issue() -> None:
    assert startup_budget_seconds(model("Llama-3.1-70B")) <= 30 * 60
    assert startup_budget_seconds(model("Llama-3.1-405B")) <= 140 * 60
    assert startup_budget_seconds(model("Qwen/Qwen3-0.6B")) == 600


@pytest.mark.parametrize(("ranks", "gib"), [(1, 0), (2, 16), (8, 16), (9, 32), (16, 32)])
def test_shared_memory(ranks: int, gib: int) -> None:
    assert required_shm_gib(ranks) == gib


def test_costs_are_the_gpus_share_of_a_dated_price() -> None:
    costs = gpu_costs("p5.48xlarge", 4)
    assert [cost.price for cost in costs] == list(prices("p5.48xlarge"))
    assert costs[0].usd_per_hour == pytest.approx(prices("p5.48xlarge")[0].usd_per_hour / 2)
    assert costs[0].usd_per_million_tokens(1000) == pytest.approx(costs[0].usd_per_hour / 3.6)
    assert gpu_costs("g6.24xlarge", 4) == ()


def test_a_larger_load_never_costs_less() -> None:
    small, large = (
        plan(model("Qwen/Qwen3-32B"), Load(rate, 1000, 300, 2.0, 0.06), vllm_version("0.33.0"))[0].cheapest_usd_per_hour
        for rate in (1.0, 20.0)
    )
    assert small <= large


def test_a_plan_never_splits_tensors_over_pcie() -> None:
    for option in plan(model("Qwen/Qwen3-32B"), Load(2.0, 1000, 300, 5.0, 0.2), vllm_version("0.33.0")):
        assert option.config.tensor_parallel <= max(1, option.instance.nvlink_domain_gpus)
        assert option.result.fits


def test_the_article_s_figures() -> None:
    lines = {line.claim: line for _, section in explain() for line in section}
    assert "327,680 B = 320 KiB" in lines["320 KB a token"].result
    assert lines["~2.56 GB a sequence of 8,192 tokens"].result == "2.68 GB = 2.50 GiB"
    assert lines["~82 GB at batch 32"].result == "85.9 GB = 80 GiB"
    vllm = next(line for claim, line in lines.items() if claim.startswith("vLLM:"))
    assert vllm.verdict == "does not follow"
    assert "9,143 tok/s" in vllm.result
    assert "possible" in vllm.result


def test_the_blueprint_s_server_summary() -> None:
    summary = summarize(
        model("meta-llama/Meta-Llama-3.1-70B-Instruct"),
        hardware_of_instance("p5.48xlarge"),
        vllm_version("0.33.0"),
        tensor_parallel=4,
        max_model_len=16384,
        kv_cache_dtype="fp8",
    )
    assert summary.fits
    assert summary.shm_gib.value == 16
    assert summary.keda_waiting_threshold.value == 5
    assert summary.host_memory_request_gib.value <= 180  # the article's request
    assert summary.host_memory_limit_gib.value <= 250  # the article's limit
    assert summary.startup_budget_seconds.value <= 1800
    assert {cost.price.kind for cost in summary.costs} == {"on-demand", "capacity-block", "savings-plan-3y"}
    assert 8 <= summary.max_num_seqs.value <= 1024


def test_a_server_that_does_not_fit_names_its_nearest_fix() -> None:
    summary = summarize(
        model("meta-llama/Llama-3.1-70B-Instruct"),
        hardware_of_instance("p5.48xlarge"),
        vllm_version("0.33.0"),
        tensor_parallel=2,
    )
    assert not summary.fits
    assert summary.nearest_fix is not None
    assert "--tensor-parallel-size 4" in summary.reason


def test_what_no_single_change_can_fix() -> None:
    summary = summarize(
        model("meta-llama/Llama-3.1-405B-Instruct"),
        hardware_of_instance("g6.xlarge"),
        vllm_version("0.33.0"),
        tensor_parallel=1,
    )
    assert summary.nearest_fix is None
    assert "No single change fits" in summary.reason


@pytest.mark.parametrize(
    ("name", "tp", "length"), [("Qwen/Qwen3-32B", 1, 8192), ("Qwen/Qwen3-8B", 1, 2048), ("Llama-3.1-70B", 4, 131072)]
)
def test_the_derived_sequences_are_held_by_the_cache(name: str, tp: int, length: int) -> None:
    summary = summarize(
        model(name),
        hardware_of_instance("p5.48xlarge"),
        vllm_version("0.33.0"),
        tensor_parallel=tp,
        max_model_len=length,
    )
    sequences = summary.max_num_seqs.value
    assert summary.fits
    # Planned at a quarter of max_model_len, within the step of eight that the value is rounded to.
    assert sequences <= max(8, summary.result.capacity.concurrency(length // 4) + 8)


def test_the_stack_s_own_sequences_are_kept() -> None:
    summary = summarize(
        model("Qwen/Qwen3-8B"),
        hardware_of_instance("g6e.xlarge"),
        vllm_version("0.33.0"),
        tensor_parallel=1,
        max_num_seqs=24,
    )
    assert (summary.max_num_seqs.value, summary.result.config.max_num_seqs) == (24, 24)
    assert summary.keda_waiting_threshold.value == 1
    assert summary.shm_gib.value == 0
