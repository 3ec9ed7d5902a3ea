"""The measured share of a GPU's published peaks, from one H200 (shared/facts/measured), as a law that carries over.

Decode of one Llama-3.1-70B shard follows ``weight bytes / (share x published bandwidth) + a fixed time a layer`` up to
batch 128, and the tensor cores' share of the published rate beyond. tests/sizing compares it with every measured row.
"""

from __future__ import annotations

from dataclasses import dataclass

from catalog.gpus import Gpu
from catalog.models import WeightsDtype
from sizing.errors import SizingError

# From the TP 4 and TP 8 rows in bf16 at batch 1 to 16: 9.4 ms for 34.23 GB and 5.6 ms for 17.11 GB over 80 layers.
DECODE_BANDWIDTH_SHARE = 0.93
LAYER_OVERHEAD_SECONDS = 22e-6
# decode_attention rows: 3.79 TB/s of 4.8 at batch 128 and 2,048 tokens (longer contexts reach 0.90).
KV_READ_SHARE = 0.79
# Rows at batch 256 and 512, and prefill rows: 555 to 693 TFLOP/s of 989, 1,002 to 1,249 of 1,979.
DECODE_COMPUTE_SHARE = {"bf16": 0.58, "fp8": 0.53}
PREFILL_COMPUTE_SHARE = {"bf16": 0.65, "fp8": 0.60}
MEASURED_ON = "H200"


@dataclass(frozen=True)
class Peaks:
    """One GPU's published peaks for one weight format: bytes a second and operations a second."""

    bandwidth: float
    operations: float
    arithmetic: str
    """``bf16`` or ``fp8``: what the tensor cores compute in."""


def peaks(gpu: Gpu, dtype: WeightsDtype) -> Peaks:
    """Published peaks of ``gpu`` for weights stored as ``dtype``; formats that it lacks are computed in 16 bit.

    Raises:
        SizingError: the catalog has no dense rate for this GPU.
    """
    if dtype == "fp8" and gpu.fp8_tflops is not None:
        return Peaks(gpu.hbm_tb_per_second * 1e12, gpu.fp8_tflops * 1e12, "fp8")
    rate = gpu.bf16_tflops or gpu.fp16_tflops
    if rate is None:
        raise SizingError(f"the catalog has no dense rate for GPU {gpu.name}: throughput can't be estimated on it")
    return Peaks(gpu.hbm_tb_per_second * 1e12, rate * 1e12, "bf16")
