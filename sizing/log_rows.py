"""Rows of a CSV of logged vLLM starts, read tolerantly: what a row lacks is None, what it says oddly is understood.

The columns are those of shared/cases/kv-cache-logs.csv. Memory in GiB a GPU, lengths in tokens.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from catalog.facts import UnknownFactError
from catalog.gpus import Gpu, gpus
from catalog.models import WeightsDtype
from catalog.vllm_memory import Engine
from catalog.vllm_versions import VllmVersion, vllm_version
from sizing.deployment import GpuMemory
from sizing.errors import SizingError

# The version taken where a row names only the engine: the newest that had V0 alone, and the hungriest of V1.
_ASSUMED_VERSION: dict[Engine, str] = {"V0": "0.6.3", "V1": "0.11.0"}
# Gated-delta-net models came late, and their rows print tokens as late versions do.
_ASSUMED_VERSION_OF_LATE_MODELS = "0.28.0"
# What CUDA reports of a card's nominal size, where no better figure is known (H100: 79.19 of 80).
_CUDA_SHARE = 0.985
_WEIGHT_WORDS: tuple[tuple[str, WeightsDtype], ...] = (
    (r"mxfp4", "mxfp4"),
    (r"nvfp4", "nvfp4"),
    (r"gguf|q8_0", "q8_0"),
    (r"bnb|nf4|bitsandbytes", "nf4"),
    (r"awq|gptq|int4|w4a16|auto_?round|4-?bit", "int4"),
    (r"int8|w8a8|w8a16", "int8"),
    (r"fp8", "fp8"),
    (r"fp32|float32", "fp32"),
    (r"fp16|float16|half", "fp16"),
    (r"bf16|bfloat16", "bf16"),
)


@dataclass(frozen=True)
class LogRow:
    """One logged start. None: the row does not say."""

    id: str
    version_text: str
    engine: Engine | None
    model: str
    layers: int | None
    kv_heads: int | None
    head_dim: int | None
    attention: str
    weights_dtype: WeightsDtype | None
    kv_dtype: str
    gpu: str
    gpu_memory_gib: float | None
    tensor_parallel: int
    pipeline_parallel: int
    max_model_len: int | None
    gpu_memory_utilization: float | None
    max_num_batched_tokens: int | None
    max_num_seqs: int | None
    enforce_eager: bool
    weights_gib: float | None
    peak_activation_gib: float | None
    non_torch_gib: float | None
    available_kv_gib: float | None
    kv_cache_tokens: int | None
    max_concurrency: float | None
    gpu_blocks: int | None
    outcome: str

    @property
    def was_refused(self) -> bool:
        """Whether vLLM did not start with this configuration."""
        return re.search(r"refus|oom|out of memory|no room", self.outcome, re.IGNORECASE) is not None


def _number(text: str | None) -> float | None:
    match = re.search(r"-?\d+(?:\.\d+)?", (text or "").replace(",", ""))
    return float(match[0]) if match else None


def _size(text: str | None) -> float | None:
    """A figure that can't be 0 or less; where it is, the row does not say."""
    number = _number(text)
    return number if number is not None and number > 0 else None


def _count(text: str | None) -> int | None:
    number = _size(text)
    return int(number) or None if number is not None else None


def _weights_dtype(text: str) -> WeightsDtype | None:
    stored = re.split(r"\(", text.lower())[0] or text.lower()  # "fp8 (compute bf16)" stores fp8
    return next((dtype for pattern, dtype in _WEIGHT_WORDS if re.search(pattern, stored)), None)


def _row(line_number: int, cells: dict[str, str]) -> LogRow:
    def cell(column: str) -> str:
        return (cells.get(column) or "").strip()

    engine = cell("engine").upper()
    seqs = re.search(r"max[-_]num[-_]seqs[ =]+(\d+)", cell("notes"))
    return LogRow(
        id=cell("id") or f"line {line_number}",
        version_text=cell("vllm_version"),
        engine="V0" if engine == "V0" else "V1" if engine == "V1" else None,
        model=cell("model"),
        layers=_count(cell("num_layers")),
        kv_heads=_count(cell("num_kv_heads")),
        head_dim=_count(cell("head_dim")),
        attention=cell("attention").lower(),
        weights_dtype=_weights_dtype(cell("weights_dtype")),
        kv_dtype=cell("kv_dtype") or "auto",
        gpu=cell("gpu"),
        gpu_memory_gib=_size(cell("gpu_mem_gib_reported")),
        tensor_parallel=_count(cell("tp")) or 1,
        pipeline_parallel=_count(cell("pp")) or 1,
        max_model_len=_count(cell("max_model_len")),
        gpu_memory_utilization=_size(cell("gpu_memory_utilization")),
        max_num_batched_tokens=_count(cell("max_num_batched_tokens")),
        max_num_seqs=_count(seqs[1]) if seqs else None,
        enforce_eager=cell("enforce_eager").lower() in ("y", "yes", "true", "1"),
        weights_gib=_size(cell("model_load_gib")),
        peak_activation_gib=_number(cell("peak_activation_gib")),
        non_torch_gib=_number(cell("non_torch_gib")),
        available_kv_gib=_number(cell("available_kv_gib")),
        kv_cache_tokens=_count(cell("kv_cache_tokens")),
        max_concurrency=_size(cell("max_concurrency_x")),
        gpu_blocks=_count(cell("gpu_blocks")),
        outcome=cell("outcome"),
    )


def read_log_rows(path: Path) -> list[LogRow]:
    """All rows of the CSV file at ``path``.

    Raises:
        SizingError: no such file, not text, or no column ``model``.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SizingError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SizingError(f"{path} is no UTF-8 text: {error.reason}") from error
    reader = csv.DictReader(text.splitlines(), restval="")
    if "model" not in (reader.fieldnames or []):
        raise SizingError(
            f"{path} has no column 'model': its first line must name columns like those of kv-cache-logs.csv"
        )
    return [_row(reader.line_num, cells) for cells in reader]


def version_of(row: LogRow) -> tuple[VllmVersion, bool]:
    """The row's version, and whether it had to be assumed from the engine."""
    match = re.search(r"\d+\.\d+\S*", row.version_text)
    if match:
        try:
            return vllm_version(match[0]), False
        except UnknownFactError:
            plain = re.match(r"\d+(?:\.\d+)+", match[0])
            if plain:
                return vllm_version(plain[0]), False
    late = row.attention == "hybrid-gdn" and row.engine != "V0"
    return vllm_version(_ASSUMED_VERSION_OF_LATE_MODELS if late else _ASSUMED_VERSION[row.engine or "V1"]), True


@cache
def _gpu_patterns() -> tuple[tuple[re.Pattern[str], Gpu], ...]:
    """Every GPU name as a pattern, the longest first; separators and a size in between may be missing."""
    spellings = [(spelling, gpu) for gpu in gpus().values() for spelling in (gpu.name, *gpu.aliases)]
    spellings.sort(key=lambda pair: -len(pair[0]))
    return tuple(
        (
            re.compile(
                r"(?<![A-Za-z0-9])" + re.sub(r"(\\-|\\ )+", r"[-_ ]*", re.escape(spelling)) + r"(?![A-Za-z0-9])", re.I
            ),
            gpu,
        )
        for spelling, gpu in spellings
    )


def _named_gpu(text: str) -> Gpu | None:
    nominal = {int(float(size)) for size in re.findall(r"(\d+(?:\.\d+)?)\s*GB", text, re.IGNORECASE)}
    named = [gpu for pattern, gpu in _gpu_patterns() if pattern.search(text)]
    # "A100 (80GB class)" names the chip and the size apart: of one chip's variants the size decides.
    sized = [gpu for gpu in named if not nominal or round(gpu.nominal_gb) in nominal]
    return next(iter(sized or named), None)


def gpu_memory(row: LogRow) -> GpuMemory | None:
    """The row's GPU: reported memory first, then a size in GiB in its name, then the catalog's, then a nominal size."""
    gpu = _named_gpu(row.gpu)
    printed = re.search(r"(\d+(?:\.\d+)?)\s*GiB", row.gpu)
    memory = row.gpu_memory_gib or (float(printed[1]) if printed else None)
    if gpu is not None and memory is None:
        return GpuMemory.of(gpu)
    if memory is None:
        nominal = re.search(r"(\d+(?:\.\d+)?)\s*GB", row.gpu)
        memory = float(nominal[1]) * _CUDA_SHARE if nominal else None
    if memory is None or memory <= 0:
        return None
    return GpuMemory.of(gpu, memory_gib=memory) if gpu else GpuMemory(memory)
