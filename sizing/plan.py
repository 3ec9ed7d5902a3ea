"""Which configurations hold a load, by cost: memory first, then the roofline, then the price list.

The load of one replica is a fixed point: running requests = rate x output tokens x inter-token latency, and the latency
grows with the running requests and with the share of time that prefill takes. Bounds use published peaks, estimates the
measured share of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from catalog.instance_types import InstanceType, instance_types, prices
from catalog.models import Model
from catalog.vllm_versions import VllmVersion
from sizing.cost import Cost, gpu_costs
from sizing.deployment import Deployment, check_parallelism, deployment
from sizing.errors import SizingError
from sizing.fit import Fit, fit
from sizing.hardware import hardware_of_instance
from sizing.roofline import MEASURED_ON
from sizing.throughput import decode_step, prefill

_MOST_STAGES = 2
# A replica is planned to at most this share of its time, so that bursts queue for little.
_BUSY_SHARE = 0.85
_BISECTIONS = 30
_PLANNED_PRICES = ("on-demand", "capacity-block")


@dataclass(frozen=True)
class Load:
    """What must be held: request rate, tokens a request, and the latencies that users accept (seconds)."""

    requests_per_second: float
    input_tokens: int
    output_tokens: int
    ttft_seconds: float
    itl_seconds: float

    def __post_init__(self) -> None:
        """Refuse values that are no load."""
        for name, value in vars(self).items():
            if not (value > 0 and math.isfinite(value)):
                raise SizingError(f"{name.replace('_', ' ')} is {value}: it must be above 0")

    @property
    def request_tokens(self) -> int:
        """Tokens that a request holds at its end."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Point:
    """One replica at one request rate. Latencies in seconds."""

    running_requests: float
    itl_seconds: float
    ttft_seconds: float


@dataclass(frozen=True)
class Option:
    """A configuration that holds the load."""

    instance: InstanceType
    result: Fit
    replicas: int
    instances: int
    """Whole instances that the replicas fill."""
    point: Point
    requests_per_second_per_replica: float
    bound_requests_per_second_per_replica: float
    costs: tuple[Cost, ...]
    carried_over: bool
    """Whether the measured share comes from another GPU than this one."""

    @property
    def config(self) -> Deployment:
        """The deployment of one replica."""
        return self.result.config

    @property
    def cheapest_usd_per_hour(self) -> float:
        """By the cheaper of on-demand and capacity block; infinite where neither price is known."""
        return min((cost.usd_per_hour for cost in self.costs if cost.price.kind in _PLANNED_PRICES), default=math.inf)


def _point(result: Fit, instance: InstanceType, load: Load, rate: float, *, bound: bool) -> Point | None:
    """The replica at ``rate`` requests a second, or None where it can't keep up or exceeds cache or latencies."""
    config, gpu = result.config, instance.gpu_model
    assert gpu is not None
    filling = prefill(config, gpu, tokens=load.input_tokens)
    prefill_seconds = filling.bound_seconds if bound else filling.seconds
    # With pipeline stages a stage works on other batches meanwhile, so a replica's time is shared by stages.
    busy = rate * prefill_seconds
    if busy >= (1.0 if bound else _BUSY_SHARE):
        return None
    context = load.input_tokens + load.output_tokens // 2
    most = min(config.max_num_seqs, result.capacity.concurrency(load.request_tokens))
    running = 1.0
    for _ in range(_BISECTIONS):
        step = decode_step(config, gpu, batch=math.ceil(running), context_tokens=context)
        itl = (step.bound_seconds if bound else step.seconds) / (1 - busy)
        needed = max(1.0, rate * load.output_tokens * itl)
        if needed > most or itl > load.itl_seconds:
            return None
        if needed <= running * 1.001:
            break
        running = needed
    ttft = prefill_seconds / (1 - busy) + itl
    return Point(running, itl, ttft) if ttft <= load.ttft_seconds else None


def _most_requests_per_second(result: Fit, instance: InstanceType, load: Load, *, bound: bool) -> float:
    """The highest rate that one replica holds; 0 where it can't hold any."""
    high = load.requests_per_second
    if _point(result, instance, load, high, bound=bound):
        return high
    low = 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _point(result, instance, load, middle, bound=bound):
            low = middle
        else:
            high = middle
    return low if low > load.requests_per_second * 1e-6 else 0.0


def _sizes(instance: InstanceType, model: Model) -> Iterator[tuple[int, int]]:
    """(TP, PP) worth trying: TP inside an NVLink domain (or one GPU), PP over full domains, between nodes with EFA."""
    domain = max(1, instance.nvlink_domain_gpus)
    for size in (1, 2, 4, 8):
        if size > domain:
            break
        try:
            check_parallelism(model, size, 1)
        except SizingError:
            continue
        for stages in range(1, _MOST_STAGES + 1):
            inside = size * stages <= instance.gpus
            if stages == 1 or (size == domain and (inside or instance.efa_interfaces > 0)):
                yield size, stages


def _formats(instance: InstanceType, model: Model) -> Iterator[tuple[Model, str]]:
    """(model, KV dtype) worth trying on this GPU: as stored, and fp8 where the GPU computes it natively."""
    gpu = instance.gpu_model
    assert gpu is not None
    models = [model]
    if gpu.native_fp8 and model.weights_dtype in ("bf16", "fp16"):
        models.append(model.model_copy(update={"weights_dtype": "fp8"}))
    for stored in models:
        yield stored, "auto"
        if gpu.native_fp8:
            yield stored, "fp8"


def _option(instance: InstanceType, result: Fit, load: Load) -> Option | None:
    rate = _most_requests_per_second(result, instance, load, bound=False)
    if rate == 0:
        return None
    replicas = math.ceil(load.requests_per_second / rate - 1e-9)
    point = _point(result, instance, load, load.requests_per_second / replicas, bound=False)
    if point is None:
        return None
    instances = math.ceil(replicas * result.config.gpus / instance.gpus)
    costs = gpu_costs(instance.name, instances * instance.gpus)
    return Option(
        instance=instance,
        result=result,
        replicas=replicas,
        instances=instances,
        point=point,
        requests_per_second_per_replica=rate,
        bound_requests_per_second_per_replica=_most_requests_per_second(result, instance, load, bound=True),
        costs=costs,
        carried_over=instance.gpu != MEASURED_ON,
    )


def plan(model: Model, load: Load, version: VllmVersion, *, priced_only: bool = True) -> list[Option]:
    """Every configuration that holds ``load``, the cheapest first (the smallest where prices are equal or unknown)."""
    options: list[Option] = []
    for instance in instance_types().values():
        if not instance.gpu or (priced_only and not prices(instance.name)):
            continue
        memory = hardware_of_instance(instance.name).memory
        for size, stages in _sizes(instance, model):
            for stored, kv_dtype in _formats(instance, model):
                config = deployment(
                    stored,
                    memory,
                    version,
                    tensor_parallel=size,
                    pipeline_parallel=stages,
                    max_model_len=load.request_tokens,
                    kv_dtype=kv_dtype,
                )
                result = fit(config)
                if result.fits and (option := _option(instance, result, load)):
                    options.append(option)
    return sorted(options, key=lambda option: (option.cheapest_usd_per_hour, option.instances, option.config.gpus))
