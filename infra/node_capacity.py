"""How many replicas the node groups can ever hold."""

from __future__ import annotations

from catalog.instance_types import instance_type
from components.model_server_args import ModelServerArgs
from components.node_group_args import NodeGroupArgs
from infra.settings import StackSettings


def replica_slots(group: NodeGroupArgs, server: ModelServerArgs) -> int:
    """Replicas of ``server`` that fit on empty nodes: a replica never spans two of them."""
    return group.count * (instance_type(group.instance_type).gpus // server.tensor_parallel_size)


def minimum_replicas(server: ModelServerArgs) -> int:
    """The replicas that always run."""
    return server.autoscaler.min_replicas if server.autoscaler else (server.replicas or 1)


def replica_capacity(settings: StackSettings, server: ModelServerArgs) -> int:
    """The most replicas of ``server`` while every other model server on its nodes keeps its minimum."""
    group = settings.node_group(server.node_group)
    others = sum(
        minimum_replicas(other) * other.tensor_parallel_size
        for other in settings.model_servers
        if other.node_group == server.node_group and other.name != server.name
    )
    free_gpus = group.count * instance_type(group.instance_type).gpus - others
    return max(0, min(replica_slots(group, server), free_gpus // server.tensor_parallel_size))


def maximum_replicas(settings: StackSettings, server: ModelServerArgs) -> int:
    """What the autoscaler may go up to: the stack's number, else the capacity; without one, the fixed number."""
    if server.autoscaler is None:
        return minimum_replicas(server)
    return server.autoscaler.max_replicas or replica_capacity(settings, server)
