"""bfloat16 needs compute capability 8.0: Turing (T4) and Volta (V100) stop at start."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.workloads.nodes import placement
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import VllmServer, engines


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """The weights' dtype is one that every GPU that the pod may land on has."""
    for server in engines(resource):
        if (server.container.gpu_resource or "").startswith("amd.com/"):
            continue
        candidates = [row for row in placement(server.pod).gpus if row.maker == "nvidia"]
        if server.value("dtype") == "bfloat16":
            without = [row for row in candidates if not row.native_bf16]
            if without:
                names = ", ".join(row.name for row in without)
                message = f"--dtype bfloat16 needs compute capability 8.0, which {names} lacks: write --dtype half."
                all_of_them = len(without) == len(candidates)
                place = server.path_of("--dtype")
                yield violation(message, *place) if all_of_them else advice(message, *place)
        yield from _quantised(server, [row.name for row in candidates if not row.native_fp8])


def _quantised(server: VllmServer, without_fp8: list[str]) -> Iterator[Outcome]:
    if without_fp8 and server.value("quantization") == "fp8":
        yield advice(
            f"--quantization fp8 is not native to {', '.join(without_fp8)}: weights shrink, the arithmetic stays "
            "16 bit.",
            *server.path_of("--quantization"),
        )


RULE = Rule(
    name="dtype-gpu",
    title="The weights' dtype is one that the GPU has",
    source="vllm #1153, #1157; substratusai/vllm-docker #37",
    fix="Set --dtype half on T4 and V100.",
    applies_to=POD_OWNERS,
    check=check,
)
