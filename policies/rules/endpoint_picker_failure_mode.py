"""An InferencePool says what happens when its endpoint picker is down: refuse requests, or send them anywhere."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice
from policies.unknowns import mapping, text

# The field's name in v1, and in v1alpha2 before it.
_REFERENCES: tuple[Path, ...] = (("spec", "endpointPickerRef"), ("spec", "extensionRef"))


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge pools that name a picker and leave the choice to a default that few know."""
    for path in _REFERENCES:
        reference = mapping(resource.at(*path))
        if reference and not text(reference.get("failureMode")):
            yield advice(
                "failureMode is not stated, so requests fail while the endpoint picker is down (FailClose): state "
                "FailClose, or FailOpen where a worse placement is better than none, and try it out",
                *path,
            )


RULE = Rule(
    name="endpoint-picker-failure-mode",
    title="An InferencePool states what happens without its endpoint picker",
    source="ai-gateway #2502; agentgateway #3473; GAIE #1266, #2365; field-mistakes.md 29",
    fix="State failureMode in the pool's endpointPickerRef.",
    applies_to=("InferencePool.inference.networking.k8s.io", "InferencePool.inference.networking.x-k8s.io"),
    check=check,
    severity="advisory",
)
