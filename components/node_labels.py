"""Labels of GPU nodes and the tags by which a cluster autoscaler foresees them. One fact, two forms."""

from __future__ import annotations

from typing import Final

from catalog.efa_layout import efa_layout
from components import gpu_taint
from components.node_group_args import NodeGroupArgs

NODE_GROUP_LABEL: Final = "gpu-inference/node-group"
"""The entry in the stack's ``node_groups``; the same for every capacity block of it."""
CAPACITY_LABEL: Final = "gpu-inference/capacity"
_TEMPLATE: Final = "k8s.io/cluster-autoscaler/node-template"


def node_labels(args: NodeGroupArgs) -> dict[str, str]:
    """The labels that the program puts on every node of the group, with the stack's own."""
    labels = {NODE_GROUP_LABEL: args.name}
    if args.capacity is not None:
        labels[CAPACITY_LABEL] = args.capacity.kind
    return {**labels, **args.labels}


def autoscaler_tags(args: NodeGroupArgs) -> dict[str, str]:
    """Tags of the Auto Scaling group: what a node would bring while there is none (facts/aws.md 7, number 23)."""
    tags = {f"{_TEMPLATE}/label/{key}": value for key, value in node_labels(args).items()}
    tags[f"{_TEMPLATE}/taint/{gpu_taint.KEY}"] = gpu_taint.autoscaler_text()
    if args.nodes.gpus:
        tags[f"{_TEMPLATE}/resources/nvidia.com/gpu"] = str(args.nodes.gpus)
    if args.nodes.efa_interfaces:
        efa = sum(entry.type != "interface" for entry in efa_layout(args.instance_type, args.network_layout))
        tags[f"{_TEMPLATE}/resources/vpc.amazonaws.com/efa"] = str(efa)
    return tags
