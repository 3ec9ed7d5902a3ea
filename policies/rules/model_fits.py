"""Weights, overhead and one request of max_model_len must fit the GPU memory, or vLLM stops at start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.gpus import Gpu
from catalog.models import Model
from catalog.vllm_versions import default_vllm_version, vllm_version
from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import number
from policies.workloads.loading_time import catalog_model
from policies.workloads.nodes import placement
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import VllmServer, engines
from sizing.deployment import Deployment, GpuMemory, deployment
from sizing.errors import SizingError
from sizing.fit import Fit, fit

# With these the budget isn't utilisation minus weights, or experts spread over ranks that sizing doesn't model.
_OUTSIDE_THE_MODEL = (
    "kv_cache_memory_bytes",
    "num_gpu_blocks_override",
    "cpu_offload_gb",
    "enable_expert_parallel",
    "hf_overrides",
    "speculative_config",
)
_WEIGHTS_BY_FLAG = {"fp8": "fp8", "bitsandbytes": "nf4"}
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)([kKmMgG]?)")
# vLLM reads 1k as 1,000 and 1K as 1,024.
_LENGTH_FACTORS = {"": 1, "k": 10**3, "K": 2**10, "m": 10**6, "M": 2**20, "g": 10**9, "G": 2**30}


def max_model_len(server: VllmServer, row: Model) -> int:
    """The length limit in tokens: the flag's, else the model's own; 1 where vLLM finds the longest that fits."""
    stated = server.value("max_model_len")
    if stated is None:
        return row.max_context_tokens
    match = _LENGTH.fullmatch(stated.replace(",", ""))
    return int(float(match.group(1)) * _LENGTH_FACTORS[match.group(2)]) if match else 1


def _deployment(server: VllmServer, row: Model, gpu: Gpu) -> Deployment:
    quantisation = server.value("quantization") if server.is_set("quantization") else None
    if quantisation in _WEIGHTS_BY_FLAG and row.weights_dtype in ("bf16", "fp16", "fp32"):
        row = row.model_copy(update={"weights_dtype": _WEIGHTS_BY_FLAG[quantisation]})
    utilization = number(server.value("gpu_memory_utilization"))
    return deployment(
        row,
        GpuMemory.of(gpu),
        server.version or vllm_version(default_vllm_version()),
        tensor_parallel=server.tensor_parallel_size,
        pipeline_parallel=server.pipeline_parallel_size,
        max_model_len=max(max_model_len(server, row), 1),
        kv_dtype=server.value("kv_cache_dtype") or "auto",
        gpu_memory_utilization=utilization,
        max_num_seqs=_optional(server, "max_num_seqs"),
        max_num_batched_tokens=_optional(server, "max_num_batched_tokens"),
        enforce_eager=server.is_set("enforce_eager"),
    )


def _optional(server: VllmServer, dest: str) -> int | None:
    return server.whole(dest, 0) or None


def _missing_gib(result: Fit) -> float:
    """How much memory a GPU lacks for one request of the full length; not positive where it fits."""
    request_gib = result.kv_bytes_per_token * result.config.max_model_len / 2**30
    return request_gib - result.tightest.available_gib


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """Each server's model fits the GPUs that its pod can land on, for models and GPUs that the catalog has."""
    for server in engines(resource):
        candidates = [row for row in placement(server.pod).gpus if row.maker == "nvidia"]
        if not candidates or server.is_set(*_OUTSIDE_THE_MODEL) or "mig" in (server.container.gpu_resource or ""):
            continue
        row = catalog_model(server)
        if row is None:
            continue
        try:
            results = [fit(_deployment(server, row, gpu)) for gpu in candidates]
        except SizingError:
            continue  # what vLLM refuses for another reason is another rule's business
        failed = [result for result in results if not result.fits]
        if not failed:
            continue
        sure = len(failed) == len(results) and min(map(_missing_gib, failed)) > parameters["tolerance_gib"]
        message = f"{failed[0].reason}. Set a shorter --max-model-len, more GPUs, or smaller weights."
        yield violation(message, *server.path) if sure else advice(message, *server.path)


RULE = Rule(
    name="model-fits",
    title="Weights, overhead and one full request fit the GPU memory",
    source="vllm #2418, #10517, #27508",
    fix="Set --max-model-len to what is needed, or raise the tensor parallel size.",
    applies_to=POD_OWNERS,
    check=check,
    parameters={
        # sizing's error on logged runs stays under this (tests of sizing, facts/vllm-memory.md section 10).
        "tolerance_gib": Parameter(1.0, "number", "GiB a GPU that must be missing before it is a violation"),
    },
)
