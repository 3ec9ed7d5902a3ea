"""Groups of simulated nodes for tests that need nodes but no node group of AWS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from catalog.instance_types import instance_type
from sandbox.allocatable import default_maximum_pods, node_resources
from sandbox.node_groups import NodeGroup, Taint
from sandbox.nodes import converge

if TYPE_CHECKING:
    from sandbox.control_plane import Sandbox

GPU_TAINT = Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule")
P5_PODS = 51


def node_group(name: str, type_name: str, count: int, zones: tuple[str, ...], **values: Any) -> NodeGroup:
    """A group whose nodes offer all that the type has; GPU nodes have the GPU taint."""
    instance = instance_type(type_name)
    resources = node_resources(
        instance,
        gpus=instance.gpus,
        efa_interfaces=instance.efa_interfaces,
        storage_bytes=instance.local_nvme_gb * 10**9 or 20 * 2**30,
        pods=P5_PODS if instance.gpus else default_maximum_pods(instance),
    )
    taints = (GPU_TAINT,) if instance.gpus else ()
    return NodeGroup(name, name, instance, count, zones, resources, **{"taints": taints, **values})


def up(sandbox: Sandbox, groups: Sequence[NodeGroup]) -> None:
    """Bring the sandbox up, or repair it, and have the nodes of these groups."""
    sandbox.up()
    with sandbox.api() as api:
        for group in groups:
            converge(api, group, lambda _: None)
