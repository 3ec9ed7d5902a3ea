"""From a stack's words to a model server with every number decided, and what follows from it for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from catalog.instance_types import InstanceType, instance_type
from components.model_server_args import ModelServerArgs
from components.model_server_plan import ModelServerPlan
from infra.settings import StackSettings
from sizing.hardware import hardware_of_instance
from sizing.load_time import CacheKind
from sizing.summary import Default, ServerSummary, summarize

# Replicas read the shared cache; the first start of all fills it from the hub, which is what the budget must allow.
COLD_CACHE: CacheKind = "hub"


@dataclass(frozen=True)
class DecidedModelServer:
    """The plan of a model server, and what sizing says of it."""

    plan: ModelServerPlan
    summary: ServerSummary

    def outputs(self, max_replicas: int) -> dict[str, Any]:
        """What a person asks next: what it holds, how long it loads, and the values that the stack left open."""
        return {
            "gpus_per_replica": self.summary.gpus,
            "max_replicas": max_replicas,
            "kv_cache_tokens_per_replica": self.summary.kv_cache_tokens,
            "max_concurrency_per_replica": round(self.summary.max_concurrency, 1),
            "expected_cold_load_seconds": round(self.summary.load_seconds),
            "derived": {name: f"{default.value}: {default.reason}" for name, default in self._derived()},
        }

    def _derived(self) -> list[tuple[str, Default]]:
        args, found = self.plan.args, self.summary
        candidates = [
            ("shm_gib", args.shm_gib, found.shm_gib),
            ("memory_request_gib", args.memory_request_gib, found.host_memory_request_gib),
            ("memory_limit_gib", args.memory_limit_gib, found.host_memory_limit_gib),
            ("startup_budget_seconds", args.startup_budget_seconds, found.startup_budget_seconds),
        ]
        if args.version.max_num_seqs_depends_on_gpu:  # else the manifest doesn't state it
            candidates.insert(0, ("max_num_seqs", args.max_num_seqs, found.max_num_seqs))
        if args.autoscaler:
            waiting = args.autoscaler.waiting_requests_per_replica
            candidates.append(("waiting_requests_per_replica", waiting, found.keda_waiting_threshold))
        return [(name, default) for name, stated, default in candidates if stated is None]


def summary_of(args: ModelServerArgs, nodes: InstanceType) -> ServerSummary:
    """What sizing says of one replica on these nodes.

    Raises:
        SizingError: a value that vLLM would refuse, with what is allowed.
    """
    return summarize(
        args.model_facts,
        hardware_of_instance(nodes.name),
        args.version,
        tensor_parallel=args.tensor_parallel_size,
        max_model_len=args.max_model_len,
        kv_cache_dtype=args.kv_cache_dtype,
        gpu_memory_utilization=args.gpu_memory_utilization,
        max_num_seqs=args.max_num_seqs,
        max_num_batched_tokens=args.max_num_batched_tokens,
        cache=COLD_CACHE,
    )


def plan(settings: StackSettings, args: ModelServerArgs) -> DecidedModelServer:
    """Decide what the stack leaves open; ``checks`` has refused what can't be decided."""
    nodes = instance_type(settings.node_group(args.node_group).instance_type)
    found = summary_of(args, nodes)
    waiting = args.autoscaler.waiting_requests_per_replica if args.autoscaler else None
    decided = ModelServerPlan(
        args=args,
        namespace=settings.namespace.name,
        instance_type=nodes,
        release_label=settings.monitoring.release_label,
        shm_gib=args.shm_gib or found.shm_gib.value,
        memory_request_gib=args.memory_request_gib or found.host_memory_request_gib.value,
        memory_limit_gib=args.memory_limit_gib or found.host_memory_limit_gib.value,
        max_num_seqs=args.max_num_seqs or found.max_num_seqs.value,
        waiting_requests_per_replica=waiting or found.keda_waiting_threshold.value,
        startup_budget_seconds=args.startup_budget_seconds or found.startup_budget_seconds.value,
    )
    return DecidedModelServer(decided, found)
