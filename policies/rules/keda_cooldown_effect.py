"""KEDA's cooldownPeriod acts only on the way to zero: above it, the HPA's behavior slows the way down."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice
from policies.scalers import SCALED_OBJECT, minimum_replicas, scales_vllm
from policies.unknowns import text

_BEHAVIOR = ("spec", "advanced", "horizontalPodAutoscalerConfig", "behavior")


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge ScaledObjects of vLLM servers that state a cooldown and never go to zero."""
    cooldown = resource.at("spec", "cooldownPeriod")
    if cooldown is None or minimum_replicas(resource) == 0 or not scales_vllm(resource, resources):
        return
    if resource.at(*_BEHAVIOR, "scaleDown") is not None:
        return
    yield advice(
        f"cooldownPeriod {text(cooldown)} does nothing while the minimum is above 0, so pods end after five minutes "
        "of less load and take their cache along: state advanced.horizontalPodAutoscalerConfig.behavior.scaleDown",
        "spec",
        "cooldownPeriod",
    )


RULE = Rule(
    name="keda-cooldown-effect",
    title="The way down is slowed by what acts on it",
    source="keda #3155; keda scaledobject_webhook.go (v2.21.0), lines 374-387",
    fix="State behavior.scaleDown with a stabilization window of 600 s or more.",
    applies_to=(SCALED_OBJECT,),
    check=check,
    scope="set",
    severity="advisory",
)
