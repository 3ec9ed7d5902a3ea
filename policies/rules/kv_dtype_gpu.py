"""An fp8 KV cache needs a GPU with native fp8 (Ada, Hopper, Blackwell); Ampere and older stop in the kernel."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.workloads.nodes import placement
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import engines

# e5m2 has no e4m3 conversion in its kernels and ran on Ampere in the old engine: not sure enough to refuse.
_DOUBTFUL = "fp8_e5m2"


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """The KV cache's dtype is one that every GPU that the pod may land on has natively."""
    for server in engines(resource):
        dtype = server.value("kv_cache_dtype") or "auto"
        if not dtype.startswith("fp8") or (server.container.gpu_resource or "").startswith("amd.com/"):
            continue
        candidates = [row for row in placement(server.pod).gpus if row.maker == "nvidia"]
        without = [row for row in candidates if not row.native_fp8]
        place = server.path_of("--kv-cache-dtype")
        if without:
            names = ", ".join(f"{row.name} ({row.architecture.capitalize()})" for row in without)
            message = (
                f"--kv-cache-dtype {dtype} needs native fp8, which {names} lacks: use auto, or an Ada or later GPU."
            )
            sure = len(without) == len(candidates) and dtype != _DOUBTFUL
            yield violation(message, *place) if sure else advice(message, *place)


RULE = Rule(
    name="kv-dtype-gpu",
    title="The KV cache's dtype is native to the GPU",
    source="vllm #26431, #35720",
    fix="Set --kv-cache-dtype auto on Ampere and older GPUs.",
    applies_to=POD_OWNERS,
    check=check,
)
