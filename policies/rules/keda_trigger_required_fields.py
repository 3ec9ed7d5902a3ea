"""A prometheus trigger needs address, query and threshold, as text; without them the ScaledObject is never ready."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.scalers import SCALED_OBJECT, triggers
from policies.unknowns import is_unknown, number, text

# keda pkg/scalers/prometheus_scaler.go (v2.20.2): the fields without `optional`.
REQUIRED = ("serverAddress", "query", "threshold")


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge every trigger's form, and the prometheus triggers' fields."""
    found = triggers(resource)
    if not found:
        yield violation(
            "the ScaledObject has no trigger, so it never scales: add one on vllm:num_requests_waiting", "spec"
        )
    for trigger in found:
        if not trigger.type:
            yield violation("a trigger has no type: write type: prometheus", *trigger.path)
        for key, value in trigger.metadata.items():
            if value is not None and not is_unknown(value) and not isinstance(value, str):
                yield violation(
                    f"metadata.{key} is no text, and KEDA's schema takes text only: put it in quotes",
                    *trigger.path,
                    "metadata",
                    key,
                )
        if trigger.type != "prometheus":
            continue
        missing = [
            key
            for key in REQUIRED
            if not is_unknown(trigger.metadata.get(key)) and not (text(trigger.metadata.get(key)) or "").strip()
        ]
        if missing:
            yield violation(
                f"the prometheus trigger has no {' and no '.join(missing)}, so the ScaledObject is never ready: add "
                f"{', '.join(missing)} to its metadata",
                *trigger.path,
            )
        threshold = trigger.metadata.get("threshold")
        if "threshold" not in missing and not is_unknown(threshold) and number(threshold) is None:
            yield violation('the threshold is no number: write it like "5"', *trigger.path, "metadata", "threshold")


RULE = Rule(
    name="keda-trigger-required-fields",
    title="A KEDA trigger has its address, query and threshold",
    source="keda pkg/scalers/prometheus_scaler.go (v2.20.2); case keda-no-server-address",
    fix="State serverAddress, query and threshold as text in the trigger's metadata.",
    applies_to=(SCALED_OBJECT,),
    check=check,
)
