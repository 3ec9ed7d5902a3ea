"""IAM policy documents: pure functions, dict out. Trust first, then what a role may do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

VERSION = "2012-10-17"


def service_trust(service: str) -> dict[str, Any]:
    """Trust for an AWS service, such as ``ec2.amazonaws.com``."""
    return _document("Allow", ["sts:AssumeRole"], principal=service)


def pod_identity_trust() -> dict[str, Any]:
    """Trust for EKS Pod Identity: the agent assumes the role for a pod and tags the session with the pod's names."""
    return _document("Allow", ["sts:AssumeRole", "sts:TagSession"], principal="pods.eks.amazonaws.com")


def allow(actions: Sequence[str], resources: Sequence[str]) -> dict[str, Any]:
    """A policy that allows actions on resources."""
    return _document("Allow", actions, resources=resources)


def managed_policy(partition: str, name: str) -> str:
    """The ARN of a policy that AWS manages; ``name`` may hold its path, such as ``service-role/...``."""
    return f"arn:{partition}:iam::aws:policy/{name}"


def as_text(document: dict[str, Any]) -> str:
    """The document as JSON, always with the same text for the same content."""
    return json.dumps(document, sort_keys=True)


def _document(
    effect: str, actions: Sequence[str], *, principal: str | None = None, resources: Sequence[str] = ()
) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": effect, "Action": list(actions)}
    if principal is not None:
        statement["Principal"] = {"Service": principal}
    if resources:
        statement["Resource"] = list(resources)
    return {"Version": VERSION, "Statement": [statement]}
