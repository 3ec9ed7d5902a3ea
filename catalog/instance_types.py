"""EC2 instance types: GPUs, EFA interfaces, memory, local NVMe, NVLink domain, and dated prices."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Literal

from catalog.facts import Fact, load_yaml, unknown
from catalog.gpus import Gpu, gpu

PriceKind = Literal["on-demand", "capacity-block", "savings-plan-3y"]


class InstanceType(Fact):
    """One EC2 instance type. Memory in GiB, local NVMe in GB (1e9), network in Gbit/s as EC2 adds it up."""

    name: str
    gpu: str | None
    gpus: int
    vcpus: int
    memory_gib: int
    local_nvme_gb: int
    network_cards: int
    efa_interfaces: int
    efa_on_card_zero: bool = True
    enis_on_card_zero: int
    ips_per_eni: int
    network_gbps: float
    nvlink_domain_gpus: int
    """How many GPUs of one instance reach each other over NVLink; 1 where they talk over PCIe only."""

    @property
    def gpu_model(self) -> Gpu | None:
        """The GPU of this type, or None for a type without one."""
        return gpu(self.gpu) if self.gpu else None


class Price(Fact):
    """USD an instance-hour, with the day and place that it was seen."""

    instance_type: str
    kind: PriceKind
    usd_per_hour: float
    region: str
    date: datetime.date
    source: str


@cache
def instance_types() -> dict[str, InstanceType]:
    """All instance types by name."""
    return {row["name"]: InstanceType.model_validate(row) for row in load_yaml("instance_types.yaml")["instance_types"]}


def instance_type(name: str) -> InstanceType:
    """The instance type called ``name``.

    Raises:
        UnknownFactError: the catalog has no such type; close matches are named.
    """
    try:
        return instance_types()[name]
    except KeyError:
        raise unknown("instance type", name, instance_types()) from None


@cache
def prices(name: str) -> tuple[Price, ...]:
    """Every price known for an instance type, as listed (on-demand first)."""
    rows = (Price.model_validate(row) for row in load_yaml("instance_types.yaml")["prices"])
    return tuple(price for price in rows if price.instance_type == name)
