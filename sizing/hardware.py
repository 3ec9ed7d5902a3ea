"""The GPUs that a deployment runs on: an EC2 instance type, a GPU by name, or a bare memory size."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.gpus import Gpu, gpu
from catalog.instance_types import InstanceType, instance_type
from sizing.deployment import GpuMemory
from sizing.errors import SizingError

_LARGEST_SENSIBLE_GPU_GIB = 4096
_DEFAULT_GPUS_PER_NODE = 8


@dataclass(frozen=True)
class Hardware:
    """One kind of node. Memory in GiB; ``gpu`` is None where only the memory is known."""

    name: str
    memory: GpuMemory
    gpus_per_node: int
    nvlink_domain_gpus: int
    gpu: Gpu | None = None
    instance: InstanceType | None = None

    @property
    def host_memory_gib(self) -> int | None:
        """The node's main memory, where it is known."""
        return self.instance.memory_gib if self.instance else None


def hardware_of_instance(name: str) -> Hardware:
    """The GPUs of an EC2 instance type.

    Raises:
        UnknownFactError: no such type in the catalog.
        SizingError: the type has no GPU.
    """
    row = instance_type(name)
    model = row.gpu_model
    if model is None:
        raise SizingError(f"instance type {name} has no GPU: name one that has, such as p5.48xlarge or g6e.12xlarge")
    linked = row.nvlink_domain_gpus > 1
    return Hardware(name, GpuMemory.of(model, has_nvlink=linked), row.gpus, row.nvlink_domain_gpus, model, row)


def hardware(
    *,
    instance: str | None = None,
    gpu_name: str | None = None,
    gpu_memory_gib: float | None = None,
    gpus_per_node: int | None = None,
) -> Hardware:
    """The hardware that a person names; ``gpu_memory_gib`` overrides a named GPU's memory.

    Raises:
        UnknownFactError: an unknown instance type or GPU, with close matches.
        SizingError: nothing or too much is named, or a value makes no sense.
    """
    if gpus_per_node is not None and gpus_per_node < 1:
        raise SizingError(f"GPUs per node is {gpus_per_node}: it must be at least 1")
    if instance is not None:
        if gpu_name is not None or gpu_memory_gib is not None or gpus_per_node is not None:
            raise SizingError("give either --instance, or --gpu or --gpu-memory-gib with --gpus-per-node, not both")
        return hardware_of_instance(instance)
    if gpu_memory_gib is not None and not 0 < gpu_memory_gib <= _LARGEST_SENSIBLE_GPU_GIB:
        raise SizingError(
            f"GPU memory is {gpu_memory_gib:g} GiB: it must be above 0 and at most {_LARGEST_SENSIBLE_GPU_GIB} "
            "(GiB of one GPU, as CUDA reports it)"
        )
    count = gpus_per_node or _DEFAULT_GPUS_PER_NODE
    if gpu_name is not None:
        model = gpu(gpu_name)
        domain = count if model.has_nvlink else 1
        return Hardware(model.name, GpuMemory.of(model, memory_gib=gpu_memory_gib), count, domain, model)
    if gpu_memory_gib is not None:
        return Hardware(f"{gpu_memory_gib:g} GiB GPU", GpuMemory(gpu_memory_gib), count, count)
    raise SizingError("name the hardware: --instance p5.48xlarge, --gpu H100, or --gpu-memory-gib 79.19")


def check_placement(place: Hardware, tensor_parallel: int) -> None:
    """Refuse tensor parallelism that leaves a node.

    Raises:
        SizingError: TP above the node's GPUs.
    """
    if tensor_parallel > place.gpus_per_node:
        raise SizingError(
            f"tensor parallel size {tensor_parallel} is above the {place.gpus_per_node} GPU(s) of one {place.name} "
            "node: keep it inside a node and cross nodes with --pp"
        )
