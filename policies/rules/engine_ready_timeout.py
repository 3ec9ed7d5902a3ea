"""vLLM stops waiting for its own engine after 600 s, whatever the startup probe allows."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.vllm_versions import default_vllm_version, vllm_version
from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, advice, undecided, violation
from policies.unknowns import number
from policies.workloads.loading_time import load_seconds
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import engines
from policies.workloads.shell import UNRESOLVED
from sizing.load_time import LOAD_GB_PER_SECOND


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """VLLM_ENGINE_READY_TIMEOUT_S (600 s where it isn't set) is above the estimated load time."""
    for server in engines(resource):
        version = server.version or vllm_version(default_vllm_version())
        name, default = version.engine_ready_timeout_variable, version.engine_ready_timeout_default_seconds
        if name is None or default is None:
            continue
        needed = load_seconds(server, parameters["read_gb_per_second"])
        if needed is None:
            continue
        stated = server.environment.get(name)
        timeout = default if stated is None else number(stated)
        if (stated and UNRESOLVED in stated) or (stated is None and server.container.has_environment_from):
            if needed > default:
                yield undecided(f"not decided yet: {name} of container {server.container.name} can't be seen here")
            continue
        if timeout is not None and timeout < needed:
            sure = timeout < parameters["violation_share"] * needed
            report = violation if sure else advice
            yield report(
                f"{server.model} takes about {needed:.0f} s to load, and container {server.container.name} ends after "
                f"{name}={timeout:g} s, whatever the startup probe says. Set {name} to {int(2 * needed)}.",
                *server.container.path,
            )


RULE = Rule(
    name="engine-ready-timeout",
    title="vLLM waits for its engine as long as the weights take",
    source="awsome-distributed-ai dsv3 manifests; vLLM envs.py",
    fix="Set VLLM_ENGINE_READY_TIMEOUT_S to the startup probe's budget.",
    applies_to=POD_OWNERS,
    check=check,
    parameters={
        "violation_share": Parameter(0.8, "number", "share of the estimate under which it is a violation, else advice"),
        "read_gb_per_second": Parameter(
            LOAD_GB_PER_SECOND["efs"],
            "number",
            "GB/s (1e9 bytes) at which a node reads weights: of a shared file system",
        ),
    },
)
