"""The commands' tables, from the same plain data that ``--json`` prints."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

# Columns of tables in a pipe or file, where no terminal tells its width.
_FILE_COLUMNS = 160
# The device's name, not a file that is opened.
_SHM_ROW = "/dev/shm"  # noqa: S108

Part = Table | str
"""What a console prints: a table, or a line."""


def show(parts: Iterable[Part]) -> None:
    """Print the parts one below the other."""
    console = Console(width=None if sys.stdout.isatty() else _FILE_COLUMNS)
    for part in parts:
        console.print(part)


def _pairs(title: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    return table


def fit_tables(report: dict[str, Any]) -> list[Part]:
    """The answer of ``fit``: figures, the reason, what would fit, and notes."""
    parts = report["overhead_parts_gib_per_gpu"]
    verdict = "[green]fits[/green]" if report["fits"] else "[red]does not fit[/red]"
    rows = [
        (
            "requested memory a GPU",
            f"{report['requested_memory_gib_per_gpu']:.2f} GiB of {report['gpu_memory_gib']:.2f}",
        ),
        ("weights a GPU", f"{report['weights_gib_per_gpu']:.2f} GiB ({report['weights_dtype']})"),
        (
            "not weights, not cache",
            f"{report['non_kv_overhead_gib_per_gpu']:.2f} GiB (activations {parts['activations']:.2f}, communication "
            f"{parts['communication']:.2f}, CUDA graphs {parts['cuda_graphs']:.2f}, start-up {parts['start_up']:.2f})",
        ),
        ("left for the KV cache a GPU", f"{report['available_kv_cache_gib_per_gpu']:.2f} GiB"),
        ("KV bytes a token and GPU", f"{report['kv_bytes_per_token_per_gpu']:,.0f} ({report['kv_cache_dtype']})"),
        ("KV tokens a replica", f"{report['kv_cache_tokens']:,}"),
        (f"requests of {report['max_model_len']:,} tokens at once", f"{report['max_concurrency']:.2f}"),
    ]
    if report["request_tokens"]:
        rows.append(
            (
                f"requests of {report['request_tokens']:,} tokens at once",
                f"{report['max_concurrency_at_request_tokens']:.2f}",
            )
        )
    rows += [
        (_SHM_ROW, f"{report['required_shm_gib']} GiB"),
        ("host memory request / limit", f"{report['host_memory_request_gib']} / {report['host_memory_limit_gib']} GiB"),
        (
            "ready after (estimates)",
            ", ".join(f"{kind} {seconds:,} s" for kind, seconds in report["load_seconds"].items()),
        ),
        ("startup budget", f"{report['startup_budget_seconds']:,} s"),
    ]
    title = (
        f"{report['model']} on {report['gpus']} x {report['hardware']} GPU, vLLM {report['vllm_version']}: {verdict}"
    )
    shown: list[Part] = [_pairs(title, rows), report["reason"]]
    if not report["fits"]:
        shown.append(
            "\n".join(
                [
                    "Changes that fit, the nearest first:",
                    *(f"  {fix['change']}: {fix['flags']}" for fix in report["fixes"]),
                ]
            )
            if report["fixes"]
            else f"No single change fits; a GPU would need {report['smallest_sufficient_gpu_memory_gib']:.0f} GiB."
        )
    notes = list(report["warnings"])
    if report["is_estimate"]:
        notes.append("the cache of this attention kind is an estimate")
    return shown + [f"[yellow]Note:[/yellow] {note}" for note in notes]


def plan_tables(document: dict[str, Any]) -> list[Part]:
    """The configurations of ``plan`` and what they assume."""
    table = Table(title=f"{document['model']}: configurations that hold the load, by cost", title_justify="left")
    for heading in (
        "instance",
        "TP x PP",
        "weights / KV",
        "replicas",
        "TTFT",
        "ITL",
        "req/s a replica (bound)",
        "USD/h",
        "USD/M tokens",
    ):
        table.add_column(heading)
    for option in document["options"]:
        costs = option["costs"]
        table.add_row(
            f"{option['instances']} x {option['instance']}",
            f"{option['tensor_parallel']} x {option['pipeline_parallel']}",
            f"{option['weights_dtype']} / {option['kv_cache_dtype']}",
            str(option["replicas"]),
            f"{option['estimated_ttft_seconds']:.2f} s",
            f"{option['estimated_itl_seconds'] * 1e3:.0f} ms",
            f"{option['estimated_requests_per_second_per_replica']:.2f} "
            f"({option['bound_requests_per_second_per_replica']:.2f})",
            "\n".join(f"{cost['usd_per_hour']:,.2f} {cost['kind']} {cost['price_date']}" for cost in costs)
            or "not known",
            "\n".join(f"{cost['usd_per_million_output_tokens']:.2f}" for cost in costs),
        )
    return [table, *(f"- {line}" for line in document["assumptions"])]


def explain_tables(document: list[dict[str, Any]]) -> list[Part]:
    """A table a section of ``explain``."""
    shown: list[Part] = []
    for section in document:
        table = Table(title=section["section"], title_justify="left")
        for heading in ("the article says", "derivation", "result", "verdict"):
            table.add_column(heading)
        for line in section["lines"]:
            note = f": {line['note']}" if line["note"] else ""
            table.add_row(line["claim"], line["derivation"], line["result"], line["verdict"] + note)
        shown.append(table)
    return shown


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1%}"


def _gib(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def log_tables(document: dict[str, Any]) -> list[Part]:
    """The rows of ``check-logs`` and their summary."""
    rows = Table(title="Predicted beside logged (errors: predicted weights / logged weights)", title_justify="left")
    for heading in (
        "id",
        "model",
        "generation",
        "KV GiB logged",
        "predicted",
        "tokens logged",
        "predicted",
        "error",
        "note",
    ):
        rows.add_column(heading)
    for row in document["rows"]:
        predicted, logged = row["predicted_weights"] or {}, row["logged_weights"] or {}
        rows.add_row(
            row["id"],
            row["model"],
            row["generation"] or "-",
            _gib(row["logged_available_kv_gib"]),
            _gib(row["predicted_available_kv_gib"]),
            str(row["logged_kv_cache_tokens"] or "-"),
            str(row["predicted_kv_cache_tokens"] if row["predicted_kv_cache_tokens"] is not None else "-"),
            f"{_percent(predicted.get('tokens_relative_error'))} / {_percent(logged.get('tokens_relative_error'))}",
            row["reason"],
        )
    summary = Table(title="Absolute errors: median and ninetieth percentile", title_justify="left")
    for heading in ("generation", "weights", "rows", "tokens median", "tokens p90", "KV GiB mean", "KV GiB p90"):
        summary.add_column(heading)
    for name, figures in [*document["summary"]["by_generation"].items(), ("all", document["summary"]["all"])]:
        for basis in ("predicted_weights", "logged_weights"):
            tokens, memory = figures[basis]["tokens_relative_error"], figures[basis]["available_error_gib"]
            summary.add_row(
                name,
                basis.split("_")[0],
                f"{tokens['rows']} / {memory['rows']}",
                _percent(tokens["median"]),
                _percent(tokens["p90"]),
                _gib(memory["mean"]),
                _gib(memory["p90"]),
            )
    refused = document["fitting_but_refused"]
    last = (
        f"[red]Called fitting, but refused: {', '.join(refused)}[/red]"
        if refused
        else "No row is called fitting that vLLM refused."
    )
    return [rows, summary, last]
