"""Admission policies: the rules that one object decides, enforced by the API server itself.

Inputs: which namespace keeps the exceptions; the object bodies (policy and binding of each rule, the ConfigMap of
exceptions). Outputs: ``resources``, what workloads depend on. Creates: one Namespace, one ConfigMap, and for each rule
a ValidatingAdmissionPolicy and its binding, in that order: a binding without its parameters refuses everything.
Replacement: a policy's name; the namespace replaces the ConfigMap. Nobody else owns a field.
Day two: who may write the ConfigMap may excuse any workload, so give nobody but administrators a role there.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Any, Final

import pulumi
import pulumi_kubernetes as kubernetes
from pydantic import BeforeValidator, StringConstraints

from components.arguments import Args, ObjectName
from components.labels import object_labels

TYPE: Final = "gpu-inference:index:AdmissionPolicies"

# How the engine hands on a date that stands without quotes in the stack file.
_MIDNIGHT: Final = " 00:00:00 +0000 UTC"


def _day(value: Any) -> Any:
    try:
        return datetime.date.fromisoformat(value.removesuffix(_MIDNIGHT))
    except (AttributeError, TypeError, ValueError):
        raise ValueError("is no day: write YYYY-MM-DD") from None


Day = Annotated[datetime.date, BeforeValidator(_day)]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]


class AdmissionExceptionArgs(Args):
    """An object that one rule lets pass."""

    rule: str
    namespace: ObjectName | None = None
    """None: the stack's serving namespace."""
    object: Annotated[
        str, StringConstraints(pattern=r"^[A-Z][A-Za-z]+/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=128)
    ]
    """Kind and name, as ``Deployment/chat``."""
    reason: Sentence
    owner: Sentence
    until: Day
    """The last day on which it holds."""


class AdmissionPoliciesArgs(Args):
    """The stack's ``admission`` section."""

    enabled: bool = False
    exceptions_namespace: ObjectName = "gpu-inference-admission"
    """Where the exceptions are kept; only administrators may write there."""
    exceptions: tuple[AdmissionExceptionArgs, ...] = ()


class AdmissionPolicies(pulumi.ComponentResource):
    """See the module's text."""

    def __init__(
        self,
        name: str,
        args: AdmissionPoliciesArgs,
        *,
        exceptions: dict[str, Any],
        policies: Sequence[tuple[dict[str, Any], dict[str, Any]]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, args.plain(), opts)
        child = pulumi.ResourceOptions(parent=self)
        namespace = kubernetes.core.v1.Namespace(
            name,
            metadata={
                "name": args.exceptions_namespace,
                "labels": object_labels(args.exceptions_namespace, "admission"),
            },
            opts=child,
        )
        parameters = kubernetes.core.v1.ConfigMap(
            name,
            metadata=exceptions["metadata"],
            data=exceptions["data"],
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[namespace])),
        )
        after_parameters = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[parameters]))
        for policy, binding in policies:
            rule = policy["metadata"]["name"]
            created = kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy(
                rule, metadata=policy["metadata"], spec=policy["spec"], opts=after_parameters
            )
            kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
                rule,
                metadata=binding["metadata"],
                spec=binding["spec"],
                opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[parameters, created])),
            )
        self.register_outputs({})
