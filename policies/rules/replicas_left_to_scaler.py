"""Where a scaler owns the replicas, the workload states none: each deployment would set them back and end busy pods."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice
from policies.scalers import scalers_of
from policies.unknowns import is_unknown, text
from policies.workloads.pods import LEADER_WORKER_SET


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge workloads with a scaler. Advice: an engine option (ignoreChanges) that isn't seen here may excuse it."""
    replicas = resource.at("spec", "replicas")
    scalers = scalers_of(resource, resources)
    is_live = resource.at("metadata", "uid") is not None  # read from a cluster: the number is the scaler's own
    if not scalers or replicas is None or is_live:
        return
    stated = "replicas stands here" if is_unknown(replicas) else f"replicas: {text(replicas)} stands here"
    yield advice(
        f"{stated}, and {scalers[0].label} owns the number: every deployment sets it back and ends busy pods; remove "
        "spec.replicas",
        "spec",
        "replicas",
    )


RULE = Rule(
    name="replicas-left-to-scaler",
    title="A scaled workload states no replicas",
    source="keda #5572, #6762; createmod #1097; field-mistakes.md 34",
    fix="Remove spec.replicas from the workload.",
    applies_to=("Deployment.apps", "StatefulSet.apps", LEADER_WORKER_SET),
    check=check,
    scope="set",
    severity="advisory",
)
