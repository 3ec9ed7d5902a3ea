"""The article's own numbers, derived line by line, and its benchmark table beside the bound.

Source: the article under shared/blueprint, sections 1, 2 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from catalog.gpus import Gpu, gpu
from catalog.models import model
from catalog.vllm_versions import vllm_version
from sizing.deployment import Deployment, GpuMemory, deployment
from sizing.fit import fit
from sizing.kv_cache import BLOCK_TOKENS
from sizing.number_formats import GIB
from sizing.throughput import decode_step

Verdict = Literal["follows", "differs", "does not follow"]

_MODEL = "meta-llama/Llama-3.1-70B-Instruct"
_BATCH = 32
_SEQUENCE_TOKENS = 8192
_SHORT_ANSWER_TOKENS = 200
_CLIENTS = 128
# A ShareGPT conversation in flight, about; the cache is a small part of the step at any such length.
_CONTEXT_TOKENS = 1024


@dataclass(frozen=True)
class Line:
    """One claim of the article with its derivation."""

    claim: str
    derivation: str
    result: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True)
class BenchmarkRow:
    """A row of the article's table. Rates in tokens a second, latency in seconds."""

    engine: str
    concurrent_requests: int
    tokens_per_second: float
    itl_p99_seconds: float
    relative_cost: float


TABLE = (
    BenchmarkRow("Hugging Face TGI", 16, 340, 0.085, 1.00),
    BenchmarkRow("TensorRT-LLM (static)", 64, 1120, 0.022, 0.30),
    BenchmarkRow("vLLM", 256, 1480, 0.014, 0.23),
)


def _cache_lines() -> list[Line]:
    shape = model(_MODEL)
    token = 2 * shape.layers * shape.kv_heads * shape.head_dim * 2
    sequence, batch = token * _SEQUENCE_TOKENS, token * _SEQUENCE_TOKENS * _BATCH
    weights = shape.parameters * 2
    nominal = 80e9
    return [
        Line(
            "320 KB a token",
            f"2 x {shape.layers} layers x {shape.kv_heads} KV heads x {shape.head_dim} x 2 bytes",
            f"{token:,} B = {token / 1024:g} KiB",
            "follows",
        ),
        Line(
            "~2.56 GB a sequence of 8,192 tokens",
            f"{token:,} B x {_SEQUENCE_TOKENS:,}",
            f"{sequence / 1e9:.2f} GB = {sequence / GIB:.2f} GiB",
            "differs",
            "2,560 MiB written as 2.56 GB: thousands and 1,024s are mixed",
        ),
        Line(
            "~82 GB at batch 32",
            f"{sequence / 1e9:.2f} GB x {_BATCH}",
            f"{batch / 1e9:.1f} GB = {batch / GIB:.0f} GiB",
            "differs",
            "82 is 2.56 x 32; the conclusion holds: more than an A100 of 80 GB has",
        ),
        Line(
            "~140 GB of weights",
            f"{shape.parameters:,} parameters x 2 bytes",
            f"{weights / 1e9:.0f} GB = {weights / GIB:.0f} GiB",
            "follows",
            f"{weights / nominal:.1f} GPUs of 80 GB for the weights alone",
        ),
    ]


def _paging_lines() -> list[Line]:
    reserved, used = _SEQUENCE_TOKENS, _SHORT_ANSWER_TOKENS
    half_block = (BLOCK_TOKENS - 1) / 2
    paged = half_block / (used + half_block)
    return [
        Line(
            "8k reserved for an answer of 200 tokens",
            f"1 - {used} / {reserved:,}",
            f"{1 - used / reserved:.1%} of the reservation unused",
            "follows",
            "internal fragmentation of contiguous allocation by max_model_len",
        ),
        Line(
            "60-80 % wasted",
            "1 - mean length / reserved length",
            f"mean lengths of {0.2 * reserved:,.0f} to {0.4 * reserved:,.0f} of {reserved:,} tokens",
            "follows",
            "a property of the traffic: such means give such waste",
        ),
        Line(
            "under 4 % with paging",
            f"at most {BLOCK_TOKENS - 1} tokens of the last block, {half_block:g} on average",
            f"{paged:.1%} at {used} tokens, {half_block / (2000 + half_block):.1%} at 2,000",
            "follows",
        ),
    ]


def _row_line(row: BenchmarkRow, server: Deployment, h100: Gpu) -> Line:
    streams = min(row.concurrent_requests, _CLIENTS)
    step = decode_step(server, h100, batch=streams, context_tokens=_CONTEXT_TOKENS)
    rate, itl = row.tokens_per_second, row.itl_p99_seconds
    running = rate * itl
    possible, consistent = itl >= step.bound_seconds, running >= streams
    return Line(
        f"{row.engine}: {rate:,.0f} tok/s, P99 ITL {itl * 1e3:.0f} ms, {streams} streams",
        f"a step takes at least {step.bound_seconds * 1e3:.1f} ms, {step.seconds * 1e3:.1f} ms estimated; "
        f"{streams} streams / {rate:,.0f} tok/s = {streams / rate * 1e3:.0f} ms a token, waiting included",
        f"ITL {'possible' if possible else 'below the bound'}; {streams} streams at that ITL would give "
        f"{streams / itl:,.0f} tok/s",
        "follows" if possible and consistent else "does not follow",
        ""
        if consistent
        else f"throughput against ITL: at {itl * 1e3:.0f} ms between tokens, {rate:,.0f} tok/s are {running:.0f} "
        f"running streams; the other {streams - running:.0f} of {streams} would be waiting",
    )


def _table_lines() -> list[Line]:
    h100 = gpu("H100")
    server = deployment(
        model(_MODEL),
        GpuMemory.of(h100),
        vllm_version("0.6.3"),
        tensor_parallel=4,
        max_model_len=16384,
        kv_dtype="fp8",
        gpu_memory_utilization=0.92,
        max_num_batched_tokens=8192,
    )
    base, best = TABLE[0].tokens_per_second, TABLE[-1].tokens_per_second
    result = fit(server)
    tokens = result.capacity.tokens
    return [
        *(_row_line(row, server, h100) for row in TABLE),
        Line(
            "4.35x throughput, 77 % lower cost",
            f"{best:,.0f} / {base:,.0f}; 1 - {base:,.0f} / {best:,.0f}",
            f"{best / base:.2f}x, {1 - base / best:.0%}",
            "follows",
            "the cost column is the throughput column turned over",
        ),
        Line(
            "256+ concurrent requests",
            f"{result.tightest.available_gib:.1f} GiB / {result.kv_bytes_per_token:,.0f} B (fp8) a GPU = {tokens:,}",
            f"{tokens // 256:,} tokens a request at 256; {result.max_concurrency:.0f} requests of 16,384",
            "follows",
            "memory allows it for chats of ShareGPT's length; with a 16-bit cache half of that",
        ),
    ]


def explain() -> list[tuple[str, list[Line]]]:
    """The article's numbers by section: title and lines."""
    return [
        ("KV cache and weights of Llama-3.1-70B", _cache_lines()),
        ("What paging saves", _paging_lines()),
        ("The benchmark table: 4 x H100, TP 4, 128 clients (decode in bf16 weights)", _table_lines()),
    ]
