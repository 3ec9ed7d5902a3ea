"""From a stack's words to a model server with every number decided."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.instance_types import instance_type
from components.model_server_args import ModelServerArgs
from components.model_server_plan import ModelServerPlan
from infra.settings import StackSettings


@dataclass(frozen=True)
class DecidedModelServer:
    """The plan of a model server, and the limits that follow from it, for the stack's outputs."""

    plan: ModelServerPlan
    limits: dict[str, int | float | str]


def plan(settings: StackSettings, args: ModelServerArgs) -> DecidedModelServer:
    """Decide what the stack leaves open."""
    nodes = instance_type(settings.node_group(args.node_group).instance_type)
    decided = ModelServerPlan(
        args=args,
        namespace=settings.namespace.name,
        instance_type=nodes,
        release_label=settings.monitoring.release_label,
        shm_gib=args.shm_gib or 16,
        memory_request_gib=args.memory_request_gib or 180,
        memory_limit_gib=args.memory_limit_gib or 250,
        max_num_seqs=args.max_num_seqs or 256,
        startup_budget_seconds=args.startup_budget_seconds or 1800,
    )
    return DecidedModelServer(decided, {})
