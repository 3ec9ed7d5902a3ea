"""Bytes of stored numbers: weights by quantisation, KV-cache elements by dtype."""

from __future__ import annotations

from typing import Literal, get_args

from catalog.models import WeightsDtype
from sizing.errors import SizingError

GIB = 2**30

KvCacheDtype = Literal["fp32", "bf16", "fp16", "fp8"]

# Bytes an element of a linear layer, scales included: int4 in groups of 128 with a 16-bit scale and a 4-bit zero point;
# mxfp4 and nvfp4 in groups of 32 and 16 with an 8-bit scale; nf4 in groups of 64, its scales quantised again; q8_0 in
# groups of 32.
_LINEAR_BYTES: dict[WeightsDtype, float] = {
    "fp32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "int4": 0.5 + (2 + 0.5) / 128,
    "mxfp4": 0.5 + 1 / 32,
    "nvfp4": 0.5 + 1 / 16,
    "nf4": 0.5 + (1 + 4 / 256) / 64,
    "q8_0": 1.0 + 2 / 32,
}
_KV_BYTES: dict[KvCacheDtype, int] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
_KV_SPELLINGS: dict[str, KvCacheDtype] = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "float": "fp32",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
    "fp8_inc": "fp8",
}


def linear_bytes(dtype: WeightsDtype) -> float:
    """Bytes an element of a linear layer stored as ``dtype``."""
    return _LINEAR_BYTES[dtype]


def compute_bytes(dtype: WeightsDtype) -> int:
    """Bytes an element of what is not quantised, and of activations: 4 for fp32 models, else 2."""
    return 4 if dtype == "fp32" else 2


def kv_bytes(dtype: KvCacheDtype) -> int:
    """Bytes an element of the KV cache."""
    return _KV_BYTES[dtype]


def kv_cache_dtype(text: str, weights_dtype: WeightsDtype) -> KvCacheDtype:
    """vLLM's ``--kv-cache-dtype`` as a format whose size is known; ``auto`` is the model's compute dtype.

    Raises:
        SizingError: a spelling that vLLM does not take, or a packed format that is not sized here.
    """
    name = text.strip().lower()
    if name in ("auto", ""):
        return "fp32" if weights_dtype == "fp32" else "fp16" if weights_dtype == "fp16" else "bf16"
    name = _KV_SPELLINGS.get(name, name)
    for dtype in get_args(KvCacheDtype):
        if name == dtype:
            found: KvCacheDtype = dtype
            return found
    allowed = ", ".join(["auto", *get_args(KvCacheDtype), *_KV_SPELLINGS])
    raise SizingError(f"KV cache dtype {text!r} is not known here: one of {allowed}")
