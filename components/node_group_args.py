"""The stack's ``node_groups`` entries: GPU nodes of one instance type."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from catalog.efa_layout import EfaPolicy, efa_policies
from catalog.eks_pins import eks_pins
from catalog.facts import UnknownFactError
from catalog.instance_types import InstanceType, instance_type
from components.arguments import Args
from components.capacity import Capacity

# EKS allows 63 characters; a group on a capacity block adds its reservation's id (20).
GroupName = Annotated[str, StringConstraints(pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=40)]
LabelKey = Annotated[str, StringConstraints(pattern=r"^([a-z0-9.-]+/)?[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$")]
LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?)?$", max_length=63)]
_RESERVED_LABEL_DOMAINS = ("kubernetes.io", "k8s.io", "eks.amazonaws.com", "nvidia.com")
# 20 GiB, EKS's default, is smaller than one vLLM image unpacked (facts/aws.md section 7 number 24).
SMALLEST_ROOT_VOLUME_GIB = 100


class NodeGroupArgs(Args):
    """GPU nodes. On a cluster that is already there, ``name``, ``instance_type`` and ``count`` only describe them."""

    name: GroupName
    instance_type: str
    count: Annotated[int, Field(ge=0, le=1000)]
    """The most nodes that the group ever has."""
    desired_count: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Nodes to run; None: ``count``. Only the start where ``scaled_by`` names somebody."""
    scaled_by: Literal["nobody", "cluster-autoscaler"] = "nobody"
    capacity: Capacity | None = None
    """Where the machines come from; needed where the program makes the group."""
    network_layout: EfaPolicy = "ip-optimised"
    ami: Literal["al2023", "bottlerocket"] = "al2023"
    release_version: str | None = None
    """The AMI's release, such as ``1.36.2-20260714``; None: the catalog's pin, which there is for al2023."""
    root_volume_gib: Annotated[int, Field(ge=SMALLEST_ROOT_VOLUME_GIB, le=16_384)] = 200
    node_repair: bool = False
    """Let EKS replace nodes that its monitoring agent calls broken. Try it against the GPU operator first: agents that
    fight over DCGM have had healthy nodes replaced (facts/aws.md section 7 number 27)."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)

    @field_validator("instance_type")
    @classmethod
    def _known_instance_type(cls, value: str) -> str:
        try:
            return instance_type(value).name
        except UnknownFactError as error:
            raise ValueError(str(error)) from None

    @field_validator("labels")
    @classmethod
    def _not_somebody_elses(cls, value: dict[str, str]) -> dict[str, str]:
        for key in value:
            domain = key.partition("/")[0] if "/" in key else ""
            if domain == "gpu-inference" or any(domain.endswith(end) for end in _RESERVED_LABEL_DOMAINS):
                raise ValueError(f"{key}: labels under {domain} are set by others; choose another prefix")
        return value

    @model_validator(mode="after")
    def _layout_that_launches(self) -> NodeGroupArgs:
        allowed = efa_policies(self.instance_type)
        if self.network_layout != "ip-optimised" and self.network_layout not in allowed:
            can = f"it launches with {', '.join(allowed)}" if allowed else "it has no EFA"
            raise ValueError(f"network_layout: a {self.instance_type} can't have {self.network_layout}: {can}")
        return self

    @model_validator(mode="after")
    def _release_of_the_ami(self) -> NodeGroupArgs:
        if self.ami == "bottlerocket" and self.release_version is None:
            raise ValueError("release_version: is needed for bottlerocket: the catalog pins none")
        minor = eks_pins().kubernetes_version
        if self.ami == "al2023" and self.release_version and not self.release_version.startswith(f"{minor}."):
            raise ValueError(
                f"release_version: {self.release_version!r} is not for Kubernetes {minor}, which this program runs; "
                f"pinned: {eks_pins().al2023_release}"
            )
        return self

    @model_validator(mode="after")
    def _no_more_than_the_most(self) -> NodeGroupArgs:
        if self.desired_count is not None and self.desired_count > self.count:
            raise ValueError(f"desired_count: {self.desired_count} is more than count, {self.count}")
        return self

    @property
    def nodes(self) -> InstanceType:
        """The catalog's facts of the instance type."""
        return instance_type(self.instance_type)

    @property
    def wanted_count(self) -> int:
        """Nodes to run while there is capacity."""
        return self.count if self.desired_count is None else self.desired_count
