"""vLLM's series on /metrics: which of them exist in which version, and what took over from those that are gone."""

from __future__ import annotations

from functools import cache

from catalog.facts import UnknownFactError
from catalog.vllm_versions import Metric, VllmVersion, default_vllm_version, metrics, vllm_version

_SUFFIXES = ("_bucket", "_sum", "_count", "_created")


@cache
def rows_of_series(series: str) -> tuple[Metric, ...]:
    """The rows of the metric that a series belongs to; empty where no version has had it."""
    exact = tuple(row for row in metrics() if row.name == series)
    if exact:
        return exact
    base = next((series.removesuffix(suffix) for suffix in _SUFFIXES if series.endswith(suffix)), None)
    return tuple(row for row in metrics() if row.name == base and row.kind == "histogram")


def fault_of(series: str, version: VllmVersion) -> str | None:
    """Why a version does not export a series, with what to write instead; None where it does.

    A version newer than the table is taken to have what the newest listed one has.
    """
    rows = rows_of_series(series)
    if any(row.exists_in(version.release) for row in rows):
        return None
    if not rows:
        counter = next((row for row in metrics() if row.name == f"{series}_total"), None)
        remedy = f": counters end in _total; write {counter.name}" if counter else ""
        return f"vLLM exports no {series}{remedy}"
    row = rows[-1]
    try:
        successor = version.metric(row.meaning)
    except UnknownFactError:
        return f"vLLM {version} does not export {series}"
    return f"vLLM {version} does not export {series}: write {successor}"


def is_newer_than_table(version: VllmVersion) -> bool:
    """Whether a version came out after the newest one that the table of metrics covers."""
    return version.release > vllm_version(default_vllm_version()).release


def is_ratio(series: str) -> bool:
    """Whether a series holds a share from 0 to 1 (vLLM's ``_perc`` gauges do, whatever their name says)."""
    return series.endswith(("_perc", "_ratio", "_hit_rate", "_acceptance_rate"))


def is_latency(series: str) -> bool:
    """Whether a series holds seconds."""
    return "_seconds" in series
