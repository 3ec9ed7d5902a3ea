"""GPUs: memory as vLLM sees it, bandwidth, dense rates, NVLink, native number formats."""

from __future__ import annotations

from functools import cache
from typing import Literal

from catalog.facts import Fact, load_yaml, unknown


class Gpu(Fact):
    """One GPU model. Memory in GiB (2**30), bandwidth in TB/s (1e12), rates in dense TFLOP/s (1e12)."""

    name: str
    aliases: tuple[str, ...] = ()
    maker: Literal["nvidia", "amd"]
    architecture: str
    multiprocessors: int
    """Streaming multiprocessors (compute units): vLLM's top-k sampler keeps a row of the vocabulary for each."""
    memory_gib: float
    nominal_gb: float
    memory_source: Literal["log", "smi", "sheet"]
    hbm_tb_per_second: float
    bf16_tflops: float | None
    fp16_tflops: float | None = None
    fp8_tflops: float | None
    native_fp8: bool
    native_bf16: bool
    nvlink_gb_per_second: float | None
    product_label: str | None = None
    """What GPU feature discovery writes into the node label ``nvidia.com/gpu.product``."""

    @property
    def has_nvlink(self) -> bool:
        """Whether GPUs of one node talk over NVLink; else tensor parallelism runs over PCIe."""
        return self.nvlink_gb_per_second is not None


@cache
def gpus() -> dict[str, Gpu]:
    """All GPUs by name (without the aliases)."""
    return {row["name"]: Gpu.model_validate(row) for row in load_yaml("gpus.yaml")["gpus"]}


@cache
def _names() -> dict[str, str]:
    return {alias.lower(): row.name for row in gpus().values() for alias in (row.name, *row.aliases)}


def gpu(name: str) -> Gpu:
    """The GPU called ``name`` (or by an alias; case does not matter).

    Raises:
        UnknownFactError: the catalog has no such GPU; close matches are named.
    """
    try:
        return gpus()[_names()[name.lower()]]
    except KeyError:
        raise unknown("GPU", name, gpus()) from None
