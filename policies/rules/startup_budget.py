"""A startup probe that gives up before the weights are read kills the server over and over."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import mapping
from policies.workloads.loading_time import failure_window_seconds, load_seconds
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import engines
from sizing.load_time import LOAD_GB_PER_SECOND


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """The startup probe (or, without one, the liveness probe) waits longer than the server takes to load."""
    for server in engines(resource):
        body = server.container.body
        key = next((name for name in ("startupProbe", "livenessProbe") if mapping(body.get(name))), None)
        if key is None:
            continue
        needed = load_seconds(server, parameters["read_gb_per_second"])
        budget = failure_window_seconds(mapping(body.get(key)))
        if needed is None or budget >= needed:
            continue
        message = (
            f"{key} of container {server.container.name} gives up after {budget} s; {server.model} takes about "
            f"{needed:.0f} s to load at {parameters['read_gb_per_second']:g} GB/s. Set startupProbe "
            f"periodSeconds: 10 and failureThreshold: {-(-int(2 * needed) // 10)}."
        )
        place = (*server.container.path, key)
        sure = budget < parameters["violation_share"] * needed
        yield violation(message, *place) if sure else advice(message, *place)


RULE = Rule(
    name="startup-budget",
    title="The startup probe waits for the weights",
    source="vllm #17386, #19377; kserve #4840, #5062, #5063; llm-d-benchmark #83",
    fix="Set startupProbe's periodSeconds × failureThreshold to twice the load time.",
    applies_to=POD_OWNERS,
    check=check,
    parameters={
        "read_gb_per_second": Parameter(
            LOAD_GB_PER_SECOND["efs"],
            "number",
            "GB/s (1e9 bytes) at which a node reads weights: of a shared file system",
        ),
        "violation_share": Parameter(0.6, "number", "share of the estimate under which it is a violation, else advice"),
    },
)
