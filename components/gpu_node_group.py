"""One EKS node group of GPU nodes on EFA, with its own launch template.

Inputs: the ``node_groups`` entry, the planned group (sizes, capacity, zone), ids of cluster, subnet, security groups
and role. Outputs: ``group``, to depend on. Creates: ``aws.ec2.LaunchTemplate``, ``aws.eks.NodeGroup``; a cluster
placement group for on-demand capacity; Auto Scaling tags where an autoscaler scales it.
Raises: EfaLayoutError for a layout that the type can't have (the settings have refused it before).
Replacement: AMI type, capacity type, zone. The old group goes first: there is no second set of GPUs to start the new
one on. An AMI release or a changed template rolls the nodes of this group only, one at a time.
Day two: ``desiredSize`` belongs to the autoscaler where there is one. EKS scales a capacity block's group down by
itself before the block's end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from catalog.eks_pins import eks_pins
from components import gpu_taint
from components.launch_template import launch_template_body
from components.node_group_args import NodeGroupArgs
from components.node_group_plan import PlannedNodeGroup
from components.node_labels import autoscaler_tags, node_labels

TYPE: Final = "gpu-inference:index:GpuNodeGroup"
_AMI_TYPES: Final = {"al2023": "AL2023_x86_64_NVIDIA", "bottlerocket": "BOTTLEROCKET_x86_64_NVIDIA"}


def node_group_body(args: NodeGroupArgs, group: PlannedNodeGroup) -> dict[str, Any]:
    """The plain inputs of the ``aws.eks.NodeGroup``."""
    body: dict[str, Any] = {
        "node_group_name": group.name,
        "ami_type": _AMI_TYPES[args.ami],
        "capacity_type": group.capacity_type,
        # Nodes follow a deliberate upgrade; one that AWS makes of the control plane leaves them where they are.
        "version": eks_pins().kubernetes_version,
        "release_version": args.release_version or eks_pins().al2023_release,
        "scaling_config": {"min_size": 0, "desired_size": group.desired, "max_size": group.largest},
        # MINIMAL ends the old node before it starts the new one: without spare GPUs the default would hang.
        "update_config": {"max_unavailable": 1, "update_strategy": "MINIMAL"},
        "labels": node_labels(args),
        "taints": [gpu_taint.node_group_taint()],
    }
    if args.node_repair:
        body["node_repair_config"] = {"enabled": True}
    return body


class GpuNodeGroup(pulumi.ComponentResource):
    """See the module's text."""

    group: aws.eks.NodeGroup

    def __init__(
        self,
        args: NodeGroupArgs,
        planned: PlannedNodeGroup,
        *,
        cluster_name: pulumi.Input[str],
        subnet_id: pulumi.Input[str],
        node_role_arn: pulumi.Input[str],
        cluster_security_group_id: pulumi.Input[str],
        efa_security_group_id: pulumi.Input[str],
        tags: Mapping[str, str],
        depends_on: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        name = planned.name
        super().__init__(TYPE, name, {**args.plain(), "desired": planned.desired}, opts)
        child = pulumi.ResourceOptions(parent=self)
        placement: pulumi.Input[str] | None = planned.placement_group
        if planned.own_placement_group:
            placement = aws.ec2.PlacementGroup(name, strategy="cluster", opts=child).name
        template = aws.ec2.LaunchTemplate(
            name,
            **launch_template_body(
                args,
                planned,
                cluster_security_group_id=cluster_security_group_id,
                efa_security_group_id=efa_security_group_id,
                placement_group=placement,
                tags=tags,
            ),
            opts=child,
        )
        scaled = args.scaled_by != "nobody"
        self.group = aws.eks.NodeGroup(
            name,
            cluster_name=cluster_name,
            node_role_arn=node_role_arn,
            subnet_ids=[subnet_id],
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            **node_group_body(args, planned),
            opts=pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(
                    depends_on=list(depends_on),
                    delete_before_replace=True,
                    ignore_changes=["scalingConfig.desiredSize"] if scaled else [],
                ),
            ),
        )
        if scaled:
            self._tag_for_autoscaler(args, child)
        self.register_outputs({})

    def _tag_for_autoscaler(self, args: NodeGroupArgs, child: pulumi.ResourceOptions) -> None:
        # EKS gives a node group's tags to the group alone, and the autoscaler reads the Auto Scaling group's.
        scaling_group = self.group.resources.apply(lambda made: made[0].autoscaling_groups[0].name)
        for key, value in autoscaler_tags(args).items():
            aws.autoscaling.Tag(
                f"{self.group._name}-{key}",
                autoscaling_group_name=scaling_group,
                tag={"key": key, "value": value, "propagate_at_launch": False},
                opts=child,
            )
