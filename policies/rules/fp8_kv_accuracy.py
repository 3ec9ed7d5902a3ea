"""An fp8 KV cache without calibrated scales costs some models accuracy: worth an evaluation, never a refusal."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice
from policies.workloads.nodes import placement
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import engines


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Advice for each engine that quantises its KV cache on a GPU that can (``kv-dtype-gpu`` judges the others)."""
    for server in engines(resource):
        dtype = server.value("kv_cache_dtype") or "auto"
        if not dtype.startswith("fp8") or server.is_set("calculate_kv_scales"):
            continue
        candidates = [row for row in placement(server.pod).gpus if row.maker == "nvidia"]
        if candidates and all(row.native_fp8 for row in candidates):
            yield advice(
                f"--kv-cache-dtype {dtype} halves the cache; some models lose accuracy without calibrated scales: "
                "compare an evaluation with auto before it serves users.",
                *server.path_of("--kv-cache-dtype"),
            )


RULE = Rule(
    name="fp8-kv-accuracy",
    title="An fp8 KV cache has been compared with a full one",
    source="vllm #11906: uncalibrated perplexity clearly worse on Qwen2-7B; llm-compressor #1104",
    fix="Evaluate the model with --kv-cache-dtype auto and fp8, and take a checkpoint with calibrated scales.",
    severity="advisory",
    applies_to=POD_OWNERS,
    check=check,
)
