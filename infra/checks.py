"""What one value in a stack file means for another: groups, GPUs, NVLink, heads, names, replicas.

Pure: settings in, problems out. Types and ranges are the Args models' own.
"""

from __future__ import annotations

from collections.abc import Iterator

from catalog.instance_types import InstanceType, instance_type
from components.model_server_args import ModelServerArgs
from infra.admission import check_admission
from infra.aws_checks import check_aws
from infra.node_capacity import minimum_replicas, replica_capacity
from infra.plans import summary_of
from infra.settings import Problem, StackSettings
from sizing.errors import SizingError


def check(settings: StackSettings) -> list[Problem]:
    """Every contradiction between values, in the order of the file; empty where there is none."""
    problems = [*_node_groups(settings), *_unique_names(settings), *check_aws(settings), *check_admission(settings)]
    if problems:
        return problems  # what follows would only repeat them
    return [problem for index in range(len(settings.model_servers)) for problem in _model_server(settings, index)]


def _node_groups(settings: StackSettings) -> Iterator[Problem]:
    names = [group.name for group in settings.node_groups]
    for index, group in enumerate(settings.node_groups):
        if names.index(group.name) != index:
            yield Problem(f"node_groups[{index}].name", f"{group.name!r} is already the name of another node group")


def _unique_names(settings: StackSettings) -> Iterator[Problem]:
    servers = settings.model_servers
    names = [server.name for server in servers]
    scalers = [server.autoscaler.name if server.autoscaler else None for server in servers]
    for index, server in enumerate(servers):
        if names.index(server.name) != index:
            yield Problem(
                f"model_servers[{index}].name", f"{server.name!r} is already the name of another model server"
            )
        if server.name == "vllm":
            message = (
                "may not be 'vllm': its Service would inject VLLM_PORT into every pod of the namespace and vLLM would "
                "not start; name the model, e.g. vllm-llama3-70b"
            )
            yield Problem(f"model_servers[{index}].name", message)
        if server.autoscaler and scalers.index(server.autoscaler.name) != index:
            message = f"{server.autoscaler.name!r} is already the name of another autoscaler"
            yield Problem(f"model_servers[{index}].autoscaler.name", message)
        if server.node_group not in {group.name for group in settings.node_groups}:
            known = ", ".join(group.name for group in settings.node_groups)
            message = f"there is no node group {server.node_group!r} in node_groups; there are: {known}"
            yield Problem(f"model_servers[{index}].node_group", message)


def _model_server(settings: StackSettings, index: int) -> Iterator[Problem]:
    server = settings.model_servers[index]
    path = f"model_servers[{index}]"
    nodes = instance_type(settings.node_group(server.node_group).instance_type)
    found = [*_parallelism(server, nodes, path), *_lengths(server, path), *_dtype(server, path)]
    yield from found
    if not found:
        yield from _fits(server, nodes, path)
        yield from _replicas(settings, server, path)


def _parallelism(server: ModelServerArgs, nodes: InstanceType, path: str) -> Iterator[Problem]:
    size, model = server.tensor_parallel_size, server.model_facts
    where = f"{path}.tensor_parallel_size"
    if nodes.gpus == 0:
        yield Problem(f"{path}.node_group", f"its nodes are {nodes.name}, which have no GPU")
    elif size > nodes.gpus:
        message = f"{size} GPUs for one replica, but a {nodes.name} has {nodes.gpus}; allowed: up to {nodes.gpus}"
        yield Problem(where, f"{message}. Tensor parallelism stays inside one node's NVLink domain")
    elif size > nodes.nvlink_domain_gpus:
        message = f"{size} GPUs, but those of a {nodes.name} ({nodes.gpu}) talk over PCIe, without NVLink; allowed: 1"
        yield Problem(where, f"{message}. Use a p4d, p5 or p6 node group for a model that needs more")
    if model.attention_heads % size:
        allowed = ", ".join(str(n) for n in range(1, nodes.gpus + 1) if model.attention_heads % n == 0)
        message = f"{size} does not divide the {model.attention_heads} attention heads of {server.model}"
        yield Problem(where, f"{message}; allowed: {allowed}")


def _lengths(server: ModelServerArgs, path: str) -> Iterator[Problem]:
    longest = server.model_facts.max_context_tokens
    if server.max_model_len > longest:
        message = f"{server.max_model_len} tokens, but {server.model} was made for {longest} at most"
        yield Problem(f"{path}.max_model_len", message)


def _dtype(server: ModelServerArgs, path: str) -> Iterator[Problem]:
    allowed = server.version.kv_cache_dtypes
    if server.kv_cache_dtype not in allowed:
        message = f"{server.kv_cache_dtype!r} is not known to vLLM {server.version}; allowed: {', '.join(allowed)}"
        yield Problem(f"{path}.kv_cache_dtype", message)


def _fits(server: ModelServerArgs, nodes: InstanceType, path: str) -> Iterator[Problem]:
    try:
        summary = summary_of(server, nodes)
    except SizingError as error:
        yield Problem(path, str(error))
        return
    if not summary.fits:
        yield Problem(path, f"{server.model} on {server.tensor_parallel_size} x {nodes.gpu}: {summary.reason}")


def _replicas(settings: StackSettings, server: ModelServerArgs, path: str) -> Iterator[Problem]:
    group = settings.node_group(server.node_group)
    capacity = replica_capacity(settings, server)
    holds = f"node group {group.name!r} ({group.count} x {group.instance_type}) can hold {capacity}"
    scaler = server.autoscaler
    if scaler and server.replicas is not None:
        message = "set together with an autoscaler, which owns the number; remove it, or the autoscaler"
        yield Problem(f"{path}.replicas", message)
    if minimum_replicas(server) > capacity:
        where = f"{path}.autoscaler.min_replicas" if scaler else f"{path}.replicas"
        yield Problem(where, f"{minimum_replicas(server)} replicas of {server.tensor_parallel_size} GPUs, but {holds}")
    elif scaler and scaler.max_replicas is not None:
        if scaler.max_replicas > capacity:
            message = f"{scaler.max_replicas} replicas of {server.tensor_parallel_size} GPUs, but {holds}"
            yield Problem(f"{path}.autoscaler.max_replicas", f"{message}; leave it out to use that")
        elif scaler.max_replicas < scaler.min_replicas:
            message = f"{scaler.max_replicas} is less than min_replicas, {scaler.min_replicas}"
            yield Problem(f"{path}.autoscaler.max_replicas", message)
