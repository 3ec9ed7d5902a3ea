"""The results as plain data, the same for ``--json`` and for tables. Memory in GiB, times in seconds, money in USD."""

from __future__ import annotations

from typing import Any

from catalog.models import Model
from sizing.deployment import Deployment
from sizing.fit import Fit
from sizing.hardware import Hardware
from sizing.host_memory import host_memory
from sizing.load_time import cache_kinds, load_seconds, startup_budget_seconds
from sizing.nearest_fix import Fix, fixes, smallest_sufficient_memory_gib
from sizing.plan import Option
from sizing.shm import required_shm_gib
from sizing.weights import checkpoint_gib

_DIGITS = 4


def _rounded(value: float) -> float:
    return round(value, _DIGITS)


def warnings_of(config: Deployment, place: Hardware) -> list[str]:
    """What does not decide the verdict but may stop or slow the server."""
    model, gpu = config.model, place.gpu
    found = []
    if config.max_model_len > model.max_context_tokens:
        found.append(
            f"max_model_len {config.max_model_len:,} is above the model's context of {model.max_context_tokens:,}: "
            "vLLM refuses it unless the rotary scaling is set (--hf-overrides)"
        )
    if gpu is not None and config.kv_cache_dtype == "fp8" and not gpu.native_fp8:
        found.append(f"{gpu.name} has no native fp8: an fp8 KV cache may fail in the attention kernels")
    if gpu is not None and model.weights_dtype == "fp8" and not gpu.native_fp8:
        found.append(f"{gpu.name} has no native fp8: fp8 weights run through a 16-bit kernel")
    if gpu is not None and model.weights_dtype == "bf16" and not gpu.native_bf16:
        found.append(f"{gpu.name} has no bfloat16: vLLM needs --dtype half")
    if config.tensor_parallel > place.nvlink_domain_gpus:
        found.append(
            f"tensor parallelism over {config.tensor_parallel} GPUs of {place.name} leaves NVLink: "
            "all-reduces go over PCIe"
        )
    if model.needs_trust_remote_code:
        found.append(f"{model.name} needs --trust-remote-code")
    return found


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "change": fix.change,
        "flags": fix.flags,
        "gpus": fix.result.config.gpus,
        "max_model_len": fix.result.config.max_model_len,
        "kv_cache_tokens": fix.result.capacity.tokens,
        "max_concurrency": _rounded(fix.result.max_concurrency),
    }


def fit_report(result: Fit, place: Hardware, *, request_tokens: int | None = None) -> dict[str, Any]:
    """The answer of ``fit``. The keys are documented in docs/decisions/sizing-output.md."""
    config, budget = result.config, result.tightest
    model: Model = config.model
    native_fp8 = place.gpu.native_fp8 if place.gpu else False
    found = [] if result.fits else fixes(config, gpus_per_node=place.gpus_per_node, native_fp8=native_fp8)
    nodes = -(-config.gpus // place.gpus_per_node)
    ranks = min(config.gpus, place.gpus_per_node)
    memory = host_memory(
        ranks, checkpoint_gib(model) / nodes, node_gib=place.host_memory_gib, node_gpus=place.gpus_per_node
    )
    return {
        "fits": result.fits,
        "reason": result.reason,
        "model": model.name,
        "weights_dtype": model.weights_dtype,
        "attention": model.attention,
        "hardware": place.name,
        "vllm_version": str(config.vllm_version),
        "generation": config.generation.name,
        "tensor_parallel": config.tensor_parallel,
        "pipeline_parallel": config.pipeline_parallel,
        "gpus": config.gpus,
        "nodes": nodes,
        "max_model_len": config.max_model_len,
        "kv_cache_dtype": config.kv_cache_dtype,
        "gpu_memory_utilization": config.gpu_memory_utilization,
        "max_num_seqs": config.max_num_seqs,
        "max_num_batched_tokens": config.max_num_batched_tokens,
        "gpu_memory_gib": config.gpu.memory_gib,
        "requested_memory_gib_per_gpu": _rounded(budget.requested_gib),
        "weights_gib_per_gpu": _rounded(budget.weights_gib),
        "non_kv_overhead_gib_per_gpu": _rounded(budget.overhead.total_gib),
        "overhead_parts_gib_per_gpu": {
            "activations": _rounded(budget.overhead.activation_gib),
            "communication": _rounded(budget.overhead.communication_gib),
            "cuda_graphs": _rounded(budget.overhead.cuda_graphs_gib),
            "start_up": _rounded(budget.overhead.start_up_gib),
        },
        "available_kv_cache_gib_per_gpu": _rounded(budget.available_gib),
        "kv_bytes_per_token_per_gpu": _rounded(result.kv_bytes_per_token),
        "kv_cache_tokens": result.capacity.tokens,
        "max_concurrency": _rounded(result.max_concurrency),
        "request_tokens": request_tokens,
        "max_concurrency_at_request_tokens": _rounded(result.capacity.concurrency(request_tokens))
        if request_tokens
        else None,
        "smallest_sufficient_gpu_memory_gib": _rounded(smallest_sufficient_memory_gib(config)),
        "required_shm_gib": required_shm_gib(ranks),
        "host_memory_request_gib": memory.request_gib,
        "host_memory_limit_gib": memory.limit_gib,
        "load_seconds": {kind: round(load_seconds(model, kind)) for kind in cache_kinds()},
        "startup_budget_seconds": startup_budget_seconds(model),
        "nearest_fix": _fix(found[0]) if found else None,
        "fixes": [_fix(fix) for fix in found],
        "is_estimate": result.capacity.layout.is_estimate,
        "warnings": warnings_of(config, place),
    }


def option_report(option: Option, tokens_per_second: float) -> dict[str, Any]:
    """One configuration of ``plan``; ``tokens_per_second`` is the whole load's output."""
    config, point = option.config, option.point
    return {
        "instance": option.instance.name,
        "gpu": option.instance.gpu,
        "instances": option.instances,
        "replicas": option.replicas,
        "gpus_per_replica": config.gpus,
        "tensor_parallel": config.tensor_parallel,
        "pipeline_parallel": config.pipeline_parallel,
        "weights_dtype": config.model.weights_dtype,
        "kv_cache_dtype": config.kv_cache_dtype,
        "kv_cache_tokens": option.result.capacity.tokens,
        "running_requests_per_replica": _rounded(point.running_requests),
        "estimated_ttft_seconds": _rounded(point.ttft_seconds),
        "estimated_itl_seconds": _rounded(point.itl_seconds),
        "estimated_requests_per_second_per_replica": _rounded(option.requests_per_second_per_replica),
        "bound_requests_per_second_per_replica": _rounded(option.bound_requests_per_second_per_replica),
        "share_carried_over_to_another_gpu": option.carried_over,
        "costs": [
            {
                "kind": cost.price.kind,
                "usd_per_hour": _rounded(cost.usd_per_hour),
                "usd_per_million_output_tokens": _rounded(cost.usd_per_million_tokens(tokens_per_second)),
                "price_date": cost.price.date.isoformat(),
                "region": cost.price.region,
            }
            for cost in option.costs
        ],
    }
