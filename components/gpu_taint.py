"""The taint of GPU nodes and the toleration that answers it: one fact, three forms.

Same key as the NVIDIA GPU operator's daemons and the EFA device plugin tolerate (facts/aws.md 2.5, 3.3, 3.7).
"""

from __future__ import annotations

from typing import Final

KEY: Final = "nvidia.com/gpu"
VALUE: Final = "true"
EFFECT: Final = "NoSchedule"


def toleration() -> dict[str, str]:
    """The pod's side; ``Exists`` so that a group that taints with another value still fits."""
    return {"key": KEY, "operator": "Exists", "effect": EFFECT}


def node_group_taint() -> dict[str, str]:
    """The node group's side, with the effect as the EKS API spells it."""
    return {"key": KEY, "value": VALUE, "effect": "NO_SCHEDULE"}


def autoscaler_text() -> str:
    """The taint as the cluster autoscaler reads it from a tag."""
    return f"{VALUE}:{EFFECT}"
