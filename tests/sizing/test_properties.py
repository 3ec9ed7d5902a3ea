"""What must hold for every model and every sensible deployment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from catalog.models import models
from catalog.vllm_versions import vllm_version
from sizing.deployment import Deployment, GpuMemory, check_parallelism, deployment
from sizing.errors import SizingError
from sizing.fit import fit
from sizing.host_memory import host_memory
from sizing.kv_cache import cache_capacity, cache_layout
from sizing.nearest_fix import fixes, longest_model_len, smallest_sufficient_memory_gib
from sizing.overhead import overhead
from sizing.shm import required_shm_gib
from sizing.weights import stage_weights

GENERATIVE = sorted(name for name, model in models().items() if model.generates)
VERSIONS = ["0.6.3", "0.9.2", "0.11.0", "0.15.0", "0.19.0", "0.20.0", "0.24.0", "0.28.0", "0.31.0", "0.33.0"]
TOKENS = st.integers(min_value=16, max_value=131072)


@st.composite
def deployments(draw: st.DrawFn) -> Deployment:
    model = models()[draw(st.sampled_from(GENERATIVE))]
    tp = draw(st.sampled_from([1, 2, 4, 8]))
    pp = draw(st.sampled_from([1, 2, 4]))
    try:
        check_parallelism(model, tp, pp)
    except SizingError:
        assume(False)
    return deployment(
        model,
        GpuMemory(draw(st.floats(8, 300)), "hopper", has_nvlink=draw(st.booleans())),
        vllm_version(draw(st.sampled_from(VERSIONS))),
        tensor_parallel=tp,
        pipeline_parallel=pp,
        max_model_len=draw(TOKENS),
        kv_dtype=draw(st.sampled_from(["auto", "fp8"])),
        gpu_memory_utilization=draw(st.floats(0.1, 1.0)),
        max_num_seqs=draw(st.sampled_from([1, 8, 256, 1024])),
        max_num_batched_tokens=draw(st.sampled_from([2048, 8192])),
        enforce_eager=draw(st.booleans()),
    )


def doubled_tp(config: Deployment) -> Deployment:
    larger = config.tensor_parallel * 2
    try:
        check_parallelism(config.model, larger, config.pipeline_parallel)
    except SizingError:
        assume(False)
    return replace(config, tensor_parallel=larger)


@given(deployments(), TOKENS)
def test_a_longer_context_never_raises_concurrency(config: Deployment, more: int) -> None:
    longer = replace(config, max_model_len=config.max_model_len + more)
    assert fit(longer).max_concurrency <= fit(config).max_concurrency + 1e-9


@given(deployments(), TOKENS, TOKENS)
def test_a_longer_request_never_takes_fewer_blocks(config: Deployment, one: int, other: int) -> None:
    layout = cache_layout(config)
    shorter, longer = sorted((one, other))
    assert layout.blocks_per_request(shorter) <= layout.blocks_per_request(longer)


@given(deployments())
def test_more_tensor_parallelism_never_raises_bytes_a_gpu(config: Deployment) -> None:
    split = doubled_tp(config)
    assert stage_weights(split).largest_gib <= stage_weights(config).largest_gib + 1e-9
    assert cache_layout(split).bytes_per_token <= cache_layout(config).bytes_per_token
    whole, part = (overhead(each, first_stage=True, last_stage=True).activation_gib for each in (config, split))
    assert part <= whole + 1e-9


@given(deployments())
def test_more_pipeline_stages_never_raise_weights_a_gpu(config: Deployment) -> None:
    deeper = replace(config, pipeline_parallel=config.pipeline_parallel * 2)
    assume(deeper.pipeline_parallel <= config.model.layers)
    assert stage_weights(deeper).largest_gib <= stage_weights(config).largest_gib + 1e-9


@given(deployments(), st.floats(0.1, 100))
def test_more_memory_never_lowers_tokens(config: Deployment, more: float) -> None:
    larger = replace(config, gpu=replace(config.gpu, memory_gib=config.gpu.memory_gib + more))
    assert fit(larger).capacity.tokens >= fit(config).capacity.tokens
    assert fit(larger).fits >= fit(config).fits


@given(deployments())
def test_an_fp8_cache_never_holds_fewer_tokens(config: Deployment) -> None:
    small, large = (replace(config, kv_cache_dtype=dtype) for dtype in ("fp8", "bf16"))
    assert cache_capacity(small, 10.0).tokens >= cache_capacity(large, 10.0).tokens


@given(deployments(), st.integers(1, 512))
def test_more_sequences_or_batched_tokens_never_free_memory(config: Deployment, more: int) -> None:
    base = fit(config).tightest.available_gib
    # Below eight rows the sampler sorts, which takes more memory a row: a step down by construction.
    assume(config.max_num_seqs >= 8)
    assert fit(replace(config, max_num_seqs=config.max_num_seqs + more)).tightest.available_gib <= base + 1e-9
    assert (
        fit(replace(config, max_num_batched_tokens=config.max_num_batched_tokens + more)).tightest.available_gib
        <= base + 1e-9
    )


@given(deployments())
def test_the_budget_adds_up(config: Deployment) -> None:
    for budget in (fit(config).first_stage, fit(config).last_stage):
        assert budget.weights_gib > 0
        assert budget.overhead.activation_gib > 0
        spent = budget.weights_gib + budget.overhead.total_gib + budget.available_gib
        assert spent == pytest.approx(config.gpu_memory_utilization * config.gpu.memory_gib)


@given(deployments())
def test_fitting_is_holding_one_whole_request(config: Deployment) -> None:
    result = fit(config)
    assert result.fits == (result.max_concurrency >= 1)
    assert result.capacity.tokens >= 0


@settings(max_examples=40, deadline=None)
@given(deployments())
def test_every_fix_fits_and_the_longest_context_is_the_longest(config: Deployment) -> None:
    found = fixes(config, gpus_per_node=8, native_fp8=True)
    assert all(fix.result.fits for fix in found)
    length = longest_model_len(config)
    if length:
        assert fit(replace(config, max_model_len=length)).fits
        assert length <= config.max_model_len


@settings(max_examples=40)
@given(deployments())
def test_the_sufficient_memory_is_sufficient(config: Deployment) -> None:
    needed = smallest_sufficient_memory_gib(config)
    assert fit(replace(config, gpu=replace(config.gpu, memory_gib=needed + 0.01))).fits
    assert not fit(replace(config, gpu=replace(config.gpu, memory_gib=needed - 0.01))).fits


@given(st.integers(1, 64), st.floats(1, 2000))
def test_host_memory_covers_what_a_pod_can_not_give_back(ranks: int, checkpoint_gib: float) -> None:
    memory = host_memory(ranks, checkpoint_gib, node_gib=2048, node_gpus=8)
    assert required_shm_gib(ranks) < memory.request_gib <= memory.limit_gib
    assert host_memory(ranks + 1, checkpoint_gib).request_gib > memory.request_gib
