"""``python -m sizing fit | plan | explain | check-logs``: the arithmetic as commands.

Exit codes: 0 done (fit: it fits), 1 fit: it does not fit (plan: nothing holds the load), 2 bad input. With ``--json`` stdout
is one JSON document and nothing else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catalog.facts import UnknownFactError
from catalog.huggingface_config import ConfigError, find_model
from catalog.models import Model, WeightsDtype
from catalog.vllm_versions import default_vllm_version, vllm_version
from sizing.errors import SizingError

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Does a model fit, how many requests does it hold, and what does a load cost: arithmetic on the catalog's facts.",
)
_DOES_NOT_FIT, _BAD_INPUT = 1, 2
# Columns of tables in a pipe or file, where no terminal tells its width.
_FILE_COLUMNS = 160

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Version = Annotated[str, typer.Option("--vllm-version", help="vLLM version, such as 0.33.0 or v0.19.0.")]
Weights = Annotated[
    str,
    typer.Option(
        "--weights-dtype", help="Override how weights are stored: bf16, fp16, fp32, fp8, int8, int4, mxfp4, nf4, q8_0."
    ),
]


@contextmanager
def _people_s_errors() -> Iterator[None]:
    """Bad input ends with one line on stderr and exit code 2, never a traceback."""
    try:
        yield
    except (SizingError, ConfigError, UnknownFactError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(_BAD_INPUT) from None


def _with_weights(model: Model, dtype: str) -> Model:
    if not dtype:
        return model
    allowed = WeightsDtype.__args__  # type: ignore[attr-defined]  # a Literal's own values
    if dtype not in allowed:
        raise SizingError(f"weights dtype {dtype!r} is not known: one of {', '.join(allowed)}")
    return model.model_copy(update={"weights_dtype": dtype})


def _show(document: Any, as_json: bool, tables: Callable[[], list[Table | str]]) -> None:
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else _FILE_COLUMNS)
    for part in tables():
        console.print(part)


def _pairs(title: str, rows: list[tuple[str, str]]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    return table


def _fit_tables(report: dict[str, Any]) -> list[Table | str]:
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
        ("/dev/shm", f"{report['required_shm_gib']} GiB"),
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
    shown: list[Table | str] = [_pairs(title, rows), report["reason"]]
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


@app.command("fit")
def fit_command(
    model: Annotated[str, typer.Argument(help="Hugging Face id, or the path of a config.json.")],
    instance: Annotated[str | None, typer.Option(help="EC2 instance type, such as p5.48xlarge.")] = None,
    gpu: Annotated[str | None, typer.Option(help="GPU by name instead of an instance, such as H100.")] = None,
    gpu_memory_gib: Annotated[float | None, typer.Option(help="Memory of one GPU in GiB, as CUDA reports it.")] = None,
    gpus_per_node: Annotated[
        int | None, typer.Option(help="GPUs of one node, with --gpu or --gpu-memory-gib (8).")
    ] = None,
    tp: Annotated[int, typer.Option("--tp", "--tensor-parallel-size", help="Tensor parallel size.")] = 1,
    pp: Annotated[int, typer.Option("--pp", "--pipeline-parallel-size", help="Pipeline parallel size.")] = 1,
    max_model_len: Annotated[int | None, typer.Option(help="Tokens; the model's own context if not given.")] = None,
    request_tokens: Annotated[
        int | None, typer.Option(help="A real request's tokens, for concurrency at that length.")
    ] = None,
    kv_cache_dtype: Annotated[str, typer.Option(help="auto, bf16, fp16, fp8 (and vLLM's spellings).")] = "auto",
    gpu_memory_utilization: Annotated[
        float | None, typer.Option(help="Share of GPU memory; the version's default.")
    ] = None,
    max_num_seqs: Annotated[int | None, typer.Option(help="The version's default on this GPU if not given.")] = None,
    max_num_batched_tokens: Annotated[
        int | None, typer.Option(help="The version's default on this GPU if not given.")
    ] = None,
    weights_dtype: Weights = "",
    draft_layers: Annotated[int, typer.Option(help="Speculative layers that share the cache (EAGLE, MTP).")] = 0,
    enforce_eager: Annotated[bool, typer.Option(help="No torch.compile and no CUDA graphs.")] = False,
    version: Version = default_vllm_version(),
    as_json: Json = False,
) -> None:
    """Whether MODEL loads and holds one request of max_model_len. Exit code 0: fits, 1: does not fit, 2: bad input."""
    from sizing.deployment import deployment
    from sizing.fit import fit
    from sizing.hardware import check_placement, hardware
    from sizing.report import fit_report

    with _people_s_errors():
        if request_tokens is not None and request_tokens < 1:
            raise SizingError(f"request tokens is {request_tokens}: it must be at least 1")
        place = hardware(instance=instance, gpu_name=gpu, gpu_memory_gib=gpu_memory_gib, gpus_per_node=gpus_per_node)
        check_placement(place, tp)
        config = deployment(
            _with_weights(find_model(model), weights_dtype),
            place.memory,
            vllm_version(version),
            tensor_parallel=tp,
            pipeline_parallel=pp,
            max_model_len=max_model_len,
            kv_dtype=kv_cache_dtype,
            gpu_memory_utilization=gpu_memory_utilization,
            max_num_seqs=max_num_seqs,
            max_num_batched_tokens=max_num_batched_tokens,
            enforce_eager=enforce_eager,
            draft_layers=draft_layers,
        )
        report = fit_report(fit(config), place, request_tokens=request_tokens)
    _show(report, as_json, lambda: _fit_tables(report))
    if not report["fits"]:
        raise typer.Exit(_DOES_NOT_FIT)


def _plan_tables(document: dict[str, Any]) -> list[Table | str]:
    from rich.table import Table

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
            f"{option['estimated_requests_per_second_per_replica']:.2f} ({option['bound_requests_per_second_per_replica']:.2f})",
            "\n".join(f"{cost['usd_per_hour']:,.2f} {cost['kind']} {cost['price_date']}" for cost in costs)
            or "not known",
            "\n".join(f"{cost['usd_per_million_output_tokens']:.2f}" for cost in costs),
        )
    return [table, *(f"- {line}" for line in document["assumptions"])]


@app.command("plan")
def plan_command(
    model: Annotated[str, typer.Argument(help="Hugging Face id, or the path of a config.json.")],
    requests_per_second: Annotated[float, typer.Option(help="Requests a second, all replicas together.")],
    input_tokens: Annotated[int, typer.Option(help="Prompt tokens of a request.")],
    output_tokens: Annotated[int, typer.Option(help="Generated tokens of a request.")],
    ttft: Annotated[float, typer.Option(help="Accepted time to first token, seconds.")] = 2.0,
    itl: Annotated[float, typer.Option(help="Accepted time between tokens, seconds.")] = 0.05,
    weights_dtype: Weights = "",
    limit: Annotated[int, typer.Option(help="Show so many configurations.", min=1)] = 10,
    version: Version = default_vllm_version(),
    as_json: Json = False,
) -> None:
    """Configurations that hold a load within memory and the roofline, by cost. Exit code 1: none does, 2: bad input."""
    from sizing.all_reduce import ASSUMPTION
    from sizing.plan import Load, plan
    from sizing.report import option_report
    from sizing.roofline import MEASURED_ON

    with _people_s_errors():
        load = Load(requests_per_second, input_tokens, output_tokens, ttft, itl)
        described = _with_weights(find_model(model), weights_dtype)
        options = plan(described, load, vllm_version(version))
    document = {
        "model": described.name,
        "vllm_version": version,
        "options": [option_report(option, requests_per_second * output_tokens) for option in options[:limit]],
        "options_found": len(options),
        "assumptions": [
            "a bound uses published peaks and no communication; an estimate uses the share of them measured on one "
            f"{MEASURED_ON} (matrices only), carried over to every other GPU",
            ASSUMPTION,
            "fp8 weights need a quantised checkpoint; replicas are planned to 85 % of their time; no prefix is shared",
            "prices are dated list prices of one region: check them before buying",
        ],
    }
    _show(document, as_json, lambda: _plan_tables(document))
    if not options:
        typer.echo("No configuration with a known price holds this load within these latencies.", err=True)
        raise typer.Exit(_DOES_NOT_FIT)


@app.command("explain")
def explain_command(as_json: Json = False) -> None:
    """The article's numbers, derived line by line, and its benchmark table beside the bound."""
    from dataclasses import asdict

    from sizing.explain import explain

    sections = explain()
    document = [{"section": title, "lines": [asdict(line) for line in lines]} for title, lines in sections]

    def tables() -> list[Table | str]:
        from rich.table import Table

        shown: list[Table | str] = []
        for title, lines in sections:
            table = Table(title=title, title_justify="left")
            for heading in ("the article says", "derivation", "result", "verdict"):
                table.add_column(heading)
            for line in lines:
                table.add_row(
                    line.claim, line.derivation, line.result, f"{line.verdict}{': ' + line.note if line.note else ''}"
                )
            shown.append(table)
        return shown

    _show(document, as_json, tables)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1%}"


def _gib(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _log_tables(document: dict[str, Any]) -> list[Table | str]:
    from rich.table import Table

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
                name, basis.split("_")[0], f"{tokens['rows']} / {memory['rows']}", _percent(tokens["median"]), _percent(tokens["p90"]),
                _gib(memory["mean"]), _gib(memory["p90"]),
            )  # fmt: skip
    refused = document["fitting_but_refused"]
    last = (
        f"[red]Called fitting, but refused: {', '.join(refused)}[/red]"
        if refused
        else "No row is called fitting that vLLM refused."
    )
    return [rows, summary, last]


@app.command("check-logs")
def check_logs_command(
    file: Annotated[Path, typer.Argument(help="CSV of logged starts, with the columns of kv-cache-logs.csv.")],
    as_json: Json = False,
) -> None:
    """Predictions beside what vLLM logged, a row each, with medians and ninetieth percentiles by generation.

    A row in --json has: id; predicted_weights and logged_weights (null, or predicted_available_kv_gib, predicted_kv_cache_tokens and
    the errors, once with the catalog's and once with the row's weights); logged_available_kv_gib, logged_kv_cache_tokens; and
    predicted_available_kv_gib, predicted_kv_cache_tokens of the first of the two that could be computed. Exit code 2: bad input.
    """
    from sizing.check_logs import check_rows
    from sizing.log_rows import read_log_rows

    with _people_s_errors():
        document = check_rows(read_log_rows(file))
    _show(document, as_json, lambda: _log_tables(document))


if __name__ == "__main__":
    app(prog_name="python -m sizing")
