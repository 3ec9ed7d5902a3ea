"""``python -m sizing fit | plan | explain | check-logs``: the arithmetic as commands.

Exit codes: 0 done (fit: it fits), 1 fit: it does not fit (plan: nothing holds the load), 2 bad input. With ``--json``
stdout is one JSON document and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from catalog.facts import UnknownFactError
from catalog.huggingface_config import ConfigError, find_model
from catalog.models import Model, WeightsDtype
from catalog.vllm_versions import default_vllm_version, vllm_version
from sizing.errors import SizingError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Does a model fit, how many requests does it hold, what does a load cost: arithmetic on the catalog's facts.",
)
_DOES_NOT_FIT, _BAD_INPUT = 1, 2
_DEFAULT_VERSION = default_vllm_version()

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Version = Annotated[str, typer.Option("--vllm-version", help="vLLM version, such as 0.33.0 or v0.19.0.")]
Weights = Annotated[
    str,
    typer.Option("--weights-dtype", help="Stored weights: bf16, fp16, fp32, fp8, int8, int4, mxfp4, nvfp4, nf4, q8_0."),
]


@contextmanager
def _bad_input_exits() -> Iterator[None]:
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


def _print_json(document: Any) -> None:
    typer.echo(json.dumps(document, indent=2))


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
    version: Version = _DEFAULT_VERSION,
    as_json: Json = False,
) -> None:
    """Whether MODEL loads and holds one request of max_model_len. Exit code 0: fits, 1: does not fit, 2: bad input."""
    from sizing.deployment import deployment
    from sizing.fit import fit
    from sizing.hardware import check_placement, hardware
    from sizing.report import fit_report

    with _bad_input_exits():
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
    if as_json:
        _print_json(report)
    else:
        from sizing.tables import fit_tables, show

        show(fit_tables(report))
    if not report["fits"]:
        raise typer.Exit(_DOES_NOT_FIT)


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
    version: Version = _DEFAULT_VERSION,
    as_json: Json = False,
) -> None:
    """Configurations that hold a load within memory and the roofline, by cost. Exit code 1: none does, 2: bad input."""
    from sizing.all_reduce import ASSUMPTION
    from sizing.plan import Load, plan
    from sizing.report import option_report
    from sizing.roofline import MEASURED_ON

    with _bad_input_exits():
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
            *(["no expert model was measured: times of this one are optimistic"] if described.moe else []),
            "fp8 weights need a quantised checkpoint; replicas are planned to 85 % of their time; no prefix is shared",
            "prices are dated list prices of one region: check them before buying",
        ],
    }
    if as_json:
        _print_json(document)
    else:
        from sizing.tables import plan_tables, show

        show(plan_tables(document))
    if not options:
        typer.echo("No configuration with a known price holds this load within these latencies.", err=True)
        raise typer.Exit(_DOES_NOT_FIT)


@app.command("explain")
def explain_command(as_json: Json = False) -> None:
    """The article's numbers, derived line by line, and its benchmark table beside the bound."""
    from dataclasses import asdict

    from sizing.explain import explain

    document = [{"section": title, "lines": [asdict(line) for line in lines]} for title, lines in explain()]
    if as_json:
        _print_json(document)
    else:
        from sizing.tables import explain_tables, show

        show(explain_tables(document))


@app.command("check-logs")
def check_logs_command(
    file: Annotated[Path, typer.Argument(help="CSV of logged starts, with the columns of kv-cache-logs.csv.")],
    as_json: Json = False,
) -> None:
    """Predictions beside what vLLM logged, a row each, with medians and ninetieth percentiles by generation.

    With --json, each of "rows" has: id; predicted_weights and logged_weights, each null or an object with weights_gib,
    predicted_available_kv_gib, predicted_kv_cache_tokens, fits and the errors, once with the catalog's and once with
    the row's weights; logged_available_kv_gib and logged_kv_cache_tokens; and, of the first of the two that could be
    computed, predicted_available_kv_gib, predicted_kv_cache_tokens and predicted_fits. Exit code 2: bad input.
    """
    from sizing.check_logs import check_rows
    from sizing.log_rows import read_log_rows

    with _bad_input_exits():
        document = check_rows(read_log_rows(file))
    if as_json:
        _print_json(document)
    else:
        from sizing.tables import log_tables, show

        show(log_tables(document))


if __name__ == "__main__":
    app(prog_name="python -m sizing")
