"""The nodes for everything that needs no GPU: CoreDNS, operators, Prometheus, gateways. Over the network's zones.

Inputs: the stack's ``system_nodes`` section, subnets, role. Outputs: ``group``, to depend on. Creates: a launch
template (encrypted disk, IMDSv2) and an ``aws.eks.NodeGroup``. It names no security group, so EKS adds the cluster's
own.
Replacement: instance types or subnets; the new group is there before the old one goes (its name has a random end).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import pulumi
import pulumi_aws as aws
from pydantic import Field, model_validator

from catalog.eks_pins import eks_pins
from components.arguments import Args, NotEmpty
from components.launch_template import encrypted_disk, metadata_options
from components.node_labels import NODE_GROUP_LABEL

TYPE: Final = "gpu-inference:index:SystemNodeGroup"
NAME: Final = "system"


class SystemNodesArgs(Args):
    """The stack's ``system_nodes`` section."""

    instance_types: Annotated[tuple[str, ...], NotEmpty] = ("m7i.xlarge",)
    count: Annotated[int, Field(ge=1, le=100)] = 3
    """Nodes to run: one a zone at least, or a lost zone takes CoreDNS with it."""
    max_count: Annotated[int, Field(ge=1, le=100)] = 6
    root_volume_gib: Annotated[int, Field(ge=20, le=16_384)] = 100

    @model_validator(mode="after")
    def _no_more_than_the_most(self) -> SystemNodesArgs:
        if self.count > self.max_count:
            raise ValueError(f"count: {self.count} is more than max_count, {self.max_count}")
        return self


def system_template_body(args: SystemNodesArgs, tags: Mapping[str, str]) -> dict[str, Any]:
    """The plain inputs of the launch template."""
    return {
        "block_device_mappings": [encrypted_disk("/dev/xvda", args.root_volume_gib)],
        "metadata_options": metadata_options(),
        "tag_specifications": [
            {"resource_type": kind, "tags": {**tags, "Name": NAME}} for kind in ("instance", "volume")
        ],
    }


def system_group_body(args: SystemNodesArgs) -> dict[str, Any]:
    """The plain inputs of the ``aws.eks.NodeGroup``."""
    return {
        "node_group_name_prefix": f"{NAME}-",
        "ami_type": "AL2023_x86_64_STANDARD",
        "capacity_type": "ON_DEMAND",
        # Nodes follow a deliberate upgrade; one that AWS makes of the control plane leaves them where they are.
        "version": eks_pins().kubernetes_version,
        "release_version": eks_pins().al2023_release,
        "instance_types": list(args.instance_types),
        "scaling_config": {"min_size": args.count, "desired_size": args.count, "max_size": args.max_count},
        "update_config": {"max_unavailable": 1},
        "labels": {NODE_GROUP_LABEL: NAME},
    }


class SystemNodeGroup(pulumi.ComponentResource):
    """See the module's text."""

    group: aws.eks.NodeGroup

    def __init__(
        self,
        args: SystemNodesArgs,
        *,
        cluster_name: pulumi.Input[str],
        subnet_ids: Sequence[pulumi.Input[str]],
        node_role_arn: pulumi.Input[str],
        tags: Mapping[str, str],
        depends_on: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, NAME, args.plain(), opts)
        child = pulumi.ResourceOptions(parent=self)
        template = aws.ec2.LaunchTemplate(NAME, **system_template_body(args, tags), opts=child)
        self.group = aws.eks.NodeGroup(
            NAME,
            cluster_name=cluster_name,
            node_role_arn=node_role_arn,
            subnet_ids=list(subnet_ids),
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            **system_group_body(args),
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=list(depends_on))),
        )
        self.register_outputs({})
