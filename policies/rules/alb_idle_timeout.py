"""A load balancer (ALB) before a model server needs more idle timeout than its 60 s, under the key that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.model import Outcome, Parameter, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.routes import ingress_backend
from policies.unknowns import text, whole

_PREFIX = "alb.ingress.kubernetes.io/"
_ATTRIBUTES = f"{_PREFIX}load-balancer-attributes"
_ATTRIBUTE = "idle_timeout.timeout_seconds"
# Annotations that no controller reads on an ALB Ingress; one of them is a Service's, for classic load balancers.
_LOOKS_LIKE_IDLE = re.compile(r"idle|keep-?alive", re.IGNORECASE)
# AWS load balancer attributes: 1 to 4000 s, 60 by default (ELB user guide, Load balancer attributes).
_DEFAULT_SECONDS, _MOST_SECONDS = 60, 4000
_ANNOTATIONS: Path = ("metadata", "annotations")


def _is_alb(ingress: Resource) -> bool:
    annotated = ingress.annotations
    by_class = text(ingress.at("spec", "ingressClassName")) or text(annotated.get("kubernetes.io/ingress.class")) or ""
    return "alb" in re.split(r"[-_.]", by_class) or (not by_class and any(key.startswith(_PREFIX) for key in annotated))


def _attribute(ingress: Resource) -> str | None:
    written = text(ingress.annotations.get(_ATTRIBUTES)) or ""
    pairs = [pair.partition("=") for pair in written.split(",")]
    return next((value.strip() for key, _, value in pairs if key.strip() == _ATTRIBUTE), None)


def check(resource: Resource, resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """Judge Ingresses of the AWS load balancer controller."""
    if not _is_alb(resource):
        return
    needed = int(parameters["minimum_seconds"])
    remedy = f"write {_ATTRIBUTES}: {_ATTRIBUTE}={needed}"
    written = _attribute(resource)
    misnamed = [
        key
        for key in resource.annotations
        if _LOOKS_LIKE_IDLE.search(key) and ("alb.ingress" in key or "aws-load-balancer" in key) and key != _ATTRIBUTES
    ]
    for key in misnamed:
        yield violation(
            f"no controller reads the annotation {key}, so the load balancer stays at {_DEFAULT_SECONDS} s: {remedy}",
            *_ANNOTATIONS,
            key,
        )
    if misnamed and written is None:
        return
    seconds = _DEFAULT_SECONDS if written is None else whole(written)
    where: Path = (*_ANNOTATIONS, _ATTRIBUTES)
    if seconds is None or not 1 <= seconds <= _MOST_SECONDS:
        yield violation(f"{_ATTRIBUTE}={written} is refused: it takes whole seconds from 1 to {_MOST_SECONDS}", *where)
    elif seconds < needed:
        backend = ingress_backend(resource, resources)
        if backend == "other":
            return
        certain = seconds <= _DEFAULT_SECONDS and backend in ("vllm", "likely")
        report = violation if certain else advice
        given = f"{_ATTRIBUTE} is {seconds}" if written is not None else f"no idle timeout is set, so it is {seconds} s"
        yield report(f"{given}: long prompts and thinking pauses are cut with a 504; {remedy}", *where)


RULE = Rule(
    name="alb-idle-timeout",
    title="The load balancer's idle timeout outlasts a pause",
    source="aws-load-balancer-controller, Ingress annotations; ELB user guide; case alb-unknown-idle-annotation",
    fix="Set idle_timeout.timeout_seconds in alb.ingress.kubernetes.io/load-balancer-attributes.",
    applies_to=("Ingress.networking.k8s.io",),
    check=check,
    scope="set",
    parameters={"minimum_seconds": Parameter(300, "integer", "The idle timeout in seconds that streams need.")},
)
