"""One workload has one autoscaler: KEDA makes an HPA of its own, and two HPAs fight over the replicas."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.scalers import HPA, SCALED_OBJECT, scalers_of, target
from policies.unknowns import mappings, text

_TRANSFER = "scaledobject.keda.sh/transfer-hpa-ownership"


def _takes_over(scaled_object: Resource, hpa: Resource) -> bool:
    """Whether KEDA adopts the HPA instead of making one, or made it in the first place."""
    advanced = ("spec", "advanced", "horizontalPodAutoscalerConfig", "name")
    adopts = text(scaled_object.annotations.get(_TRANSFER)) == "true" and text(scaled_object.at(*advanced)) == hpa.name
    owners = mappings(hpa.at("metadata", "ownerReferences"))
    return (
        adopts
        or hpa.name == f"keda-hpa-{scaled_object.name}"
        or any(text(owner.get("kind")) == "ScaledObject" for owner in owners)
    )


def _conflict(one: Resource, other: Resource) -> bool:
    kinds = {one.group_kind: one, other.group_kind: other}
    return len(kinds) == 1 or not _takes_over(kinds[SCALED_OBJECT], kinds[HPA])


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Report a pair once: on the ScaledObject of a mixed pair, on the later one of two alike."""
    mine = target(resource)
    if mine is None:
        return
    is_earlier = True
    for other in scalers_of(mine, resources):
        if other is resource:
            is_earlier = False
            continue
        alike = other.group_kind == resource.group_kind
        if not (alike and is_earlier) and not (not alike and resource.group_kind == SCALED_OBJECT):
            continue
        if _conflict(resource, other):
            yield violation(
                f"{other.label} scales {mine.kind}/{mine.name} too, and they fight over its replicas: keep one of "
                "them (a ScaledObject makes its own HPA)",
                "spec",
                "scaleTargetRef",
            )


RULE = Rule(
    name="one-autoscaler-per-target",
    title="A workload has one autoscaler",
    source="keda #5572, #6762; keda scaledobject_webhook.go, verifyHpas",
    fix="Delete one of the two autoscalers.",
    applies_to=(SCALED_OBJECT, HPA),
    check=check,
    scope="set",
)
