"""A busy engine answers /health late: a short liveness probe restarts it under load, and every stream is lost."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import mapping
from policies.workloads.loading_time import probe_number
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import vllm_servers


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """An HTTP liveness probe of a server has time for a busy engine before it restarts it."""
    for server in vllm_servers(resource):
        probe = mapping(server.container.body.get("livenessProbe"))
        if not probe.get("httpGet"):
            continue
        timeout = probe_number(probe, "timeoutSeconds")
        failures = probe_number(probe, "failureThreshold")
        window = probe_number(probe, "periodSeconds") * failures
        patience = failures * max(timeout, probe_number(probe, "periodSeconds"))
        is_hasty = patience <= parameters["hasty_seconds"]
        if timeout >= parameters["timeout_seconds"] and not is_hasty:
            continue
        message = (
            f"livenessProbe of container {server.container.name} allows {timeout} s an answer and restarts after "
            f"{failures} misses ({window} s): a saturated engine is slower. Set timeoutSeconds: 10, "
            "failureThreshold: 6."
        )
        place = (*server.container.path, "livenessProbe")
        sure = is_hasty or window <= parameters["window_seconds"]
        yield violation(message, *place) if sure else advice(message, *place)


RULE = Rule(
    name="liveness-tolerance",
    title="The liveness probe tolerates a busy engine",
    source="llm-d-benchmark #1734; llm-engine #255; gonka #1421",
    fix="Set livenessProbe timeoutSeconds: 10, periodSeconds: 10, failureThreshold: 6.",
    applies_to=POD_OWNERS,
    check=check,
    parameters={
        # gonka #1421: 2 s an answer gave more than eight false restarts a day.
        "timeout_seconds": Parameter(5, "integer", "seconds that one answer may take at least"),
        "hasty_seconds": Parameter(
            15, "integer", "seconds of misses that are a violation whatever one answer may take"
        ),
        "window_seconds": Parameter(30, "integer", "seconds of misses up to which a short timeout is a violation"),
    },
)
