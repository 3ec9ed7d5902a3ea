"""vLLM splits attention by heads: a head count that TP doesn't divide stops it at start."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.facts import UnknownFactError
from catalog.models import model
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import engines


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """The model's attention heads are a multiple of the tensor parallel size, for models that the catalog has."""
    for server in engines(resource):
        tensor = server.tensor_parallel_size
        if tensor <= 1 or not server.model:
            continue
        try:
            heads = model(server.model).attention_heads
        except UnknownFactError:
            continue
        if heads % tensor:
            valid = ", ".join(str(size) for size in range(1, heads + 1) if heads % size == 0)
            yield violation(
                f"{server.model} has {heads} attention heads, which --tensor-parallel-size {tensor} does not divide: "
                f"use one of {valid}.",
                *server.path,
            )


RULE = Rule(
    name="tp-divides-heads",
    title="Tensor parallelism divides the attention heads",
    source="vllm #11797; THU-KEG/AdaptThink #1",
    fix="Set --tensor-parallel-size to a divisor of the model's attention heads.",
    applies_to=POD_OWNERS,
    check=check,
)
