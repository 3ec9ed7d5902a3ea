"""Time of the tensor-parallel all-reduces of one step. An assumption, not measured: see the constants."""

from __future__ import annotations

from sizing.deployment import Deployment

# Two a layer (after attention and after the MLP), ring: each GPU sends 2 (n - 1) / n of the tensor.
_PER_LAYER = 2
# NVLink: half of the published both-way figure goes one way, of which 70 % is assumed; without it, PCIe 4.0 x16 shared.
_NVLINK_SHARE = 0.7
_PCIE_BYTES_PER_SECOND = 20e9
_NVLINK_LATENCY_SECONDS = 8e-6
_PCIE_LATENCY_SECONDS = 30e-6
ASSUMPTION = (
    "all-reduce: 2 a layer as a ring at 70 % of one-way NVLink and 8 µs each (PCIe: 20 GB/s and 30 µs); not measured"
)


def all_reduce_seconds(config: Deployment, tokens: int, *, nvlink_gb_per_second: float | None) -> float:
    """Seconds of all-reduce in one forward pass over ``tokens`` tokens; ``nvlink_gb_per_second`` per GPU, both ways."""
    ranks = config.tensor_parallel
    if ranks == 1:
        return 0.0
    payload = tokens * config.model.hidden_size * config.compute_bytes * 2 * (ranks - 1) / ranks
    linked = nvlink_gb_per_second is not None and config.gpu.has_nvlink
    bandwidth = (nvlink_gb_per_second or 0.0) * 1e9 / 2 * _NVLINK_SHARE if linked else _PCIE_BYTES_PER_SECOND
    latency = _NVLINK_LATENCY_SECONDS if linked else _PCIE_LATENCY_SECONDS
    return config.model.layers * _PER_LAYER * (payload / bandwidth + latency)
