"""A group of simulated nodes: what the stand-in for AWS derives from a node group and its launch template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog.instance_types import InstanceType
from sandbox.allocatable import NodeResources


@dataclass(frozen=True)
class Taint:
    """A taint of every node of a group, as Kubernetes writes it."""

    key: str
    effect: str
    value: str = ""


@dataclass(frozen=True)
class NodeGroup:
    """``count`` nodes of one EC2 instance type, spread over ``zones`` (zone ids) in turn.

    Node names are ``node_prefix`` and a number. ``labels`` come on top of those that EKS and the GPU operator set (see
    ``sandbox.nodes``).
    ``image`` names the machine image: a node whose image changes is replaced.
    """

    name: str
    node_prefix: str
    instance: InstanceType
    count: int
    zones: tuple[str, ...]
    resources: NodeResources
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    capacity_type: str = "ON_DEMAND"
    image: str = "Amazon Linux 2023"
    gpus_visible: bool = True
    """Whether GPU feature discovery and the device plugin run on these nodes."""
