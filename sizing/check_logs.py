"""Predictions beside what vLLM logged: a row each, then medians and ninetieth percentiles by generation of vLLM.

Every row is computed twice: with the weights that sizing predicts (where the catalog knows the model) and with the
logged weights. A row that can't be computed carries the reason; a row whose own figures disagree is named.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from catalog.facts import UnknownFactError
from catalog.models import Model, model
from sizing.deployment import Deployment, deployment
from sizing.errors import SizingError
from sizing.fit import Fit, fit
from sizing.geometry import model_from_row
from sizing.kv_cache import BLOCK_TOKENS, cache_capacity
from sizing.log_rows import LogRow, gpu_memory, version_of
from sizing.weights import StageWeights, stage_weights

# A row contradicts itself where its tokens and its memory, or its memory and its budget, are further apart than this.
_TOKENS_TOLERANCE = 0.10
_BUDGET_TOLERANCE_GIB = 0.5


@dataclass(frozen=True)
class Prediction:
    """One prediction for a row. Errors are predicted minus logged; relative ones are fractions of the logged figure."""

    weights_gib: float
    predicted_available_kv_gib: float
    predicted_kv_cache_tokens: int
    predicted_max_concurrency: float
    fits: bool
    available_error_gib: float | None
    available_relative_error: float | None
    tokens_relative_error: float | None


@dataclass(frozen=True)
class CheckedRow:
    """A row with its predictions; ``reason`` says why something is missing or was assumed."""

    id: str
    model: str
    vllm_version: str
    generation: str | None
    logged_weights_gib: float | None
    logged_available_kv_gib: float | None
    logged_kv_cache_tokens: int | None
    logged_outcome: str
    logged_refused: bool
    predicted_weights: Prediction | None
    logged_weights: Prediction | None
    adds_up: bool
    reason: str

    @property
    def best(self) -> Prediction | None:
        """The prediction without any figure of the log, else the one with the logged weights."""
        return self.predicted_weights or self.logged_weights

    @property
    def fitting_but_refused(self) -> bool:
        """The error that costs most: called fitting, and vLLM refused."""
        return self.logged_refused and self.best is not None and self.best.fits

    def as_json(self) -> dict[str, Any]:
        """The row as plain data, with the best prediction's two figures at the top as well."""
        best = self.best
        return asdict(self) | {
            "predicted_available_kv_gib": best.predicted_available_kv_gib if best else None,
            "predicted_kv_cache_tokens": best.predicted_kv_cache_tokens if best else None,
            "predicted_fits": best.fits if best else None,
        }


def _logged_tokens(row: LogRow, config: Deployment) -> int | None:
    """Tokens as printed; else from the block count or from concurrency, where the model is uniform."""
    if row.kv_cache_tokens is not None:
        return row.kv_cache_tokens
    if config.model.attention not in ("gqa", "mla"):
        return None
    if row.gpu_blocks is not None:
        return row.gpu_blocks * BLOCK_TOKENS
    if row.max_concurrency is not None and row.max_model_len is not None:
        return int(row.max_concurrency * row.max_model_len)
    return None


def _contradiction(row: LogRow, config: Deployment, logged_tokens: int | None) -> str:
    """How the row's own figures disagree, or ''."""
    if logged_tokens and row.available_kv_gib and config.model.attention in ("gqa", "mla"):
        implied = cache_capacity(config, row.available_kv_gib).tokens
        if abs(implied / logged_tokens - 1) > _TOKENS_TOLERANCE:
            return f"its {row.available_kv_gib:g} GiB hold {implied:,} tokens, not {logged_tokens:,}"
    parts = (row.weights_gib, row.peak_activation_gib, row.non_torch_gib, row.available_kv_gib)
    if all(part is not None for part in parts):
        left = config.gpu_memory_utilization * config.gpu.memory_gib - sum(part for part in parts if part is not None)
        if abs(left) > _BUDGET_TOLERANCE_GIB:
            return f"its parts differ from utilization x memory by {left:+.2f} GiB"
    return ""


def _relative(predicted: float, logged: float | None) -> float | None:
    return predicted / logged - 1 if logged and logged > 0 else None


def _prediction(result: Fit, row: LogRow, logged_tokens: int | None) -> Prediction:
    available = result.first_stage.available_gib  # rank 0 prints the line that was logged
    logged = row.available_kv_gib
    return Prediction(
        weights_gib=result.first_stage.weights_gib,
        predicted_available_kv_gib=available,
        predicted_kv_cache_tokens=result.capacity.tokens,
        predicted_max_concurrency=result.max_concurrency,
        fits=result.fits,
        available_error_gib=None if logged is None else available - logged,
        available_relative_error=_relative(available, logged),
        tokens_relative_error=_relative(result.capacity.tokens, logged_tokens),
    )


def _known_model(row: LogRow) -> Model | None:
    try:
        known = model(row.model)
    except UnknownFactError:
        return None
    return known.model_copy(update={"weights_dtype": row.weights_dtype}) if row.weights_dtype else known


def _logged_stage_weights(row: LogRow, config: Deployment) -> StageWeights | None:
    """The logged weights of rank 0, and the last stage's as far from them as predicted."""
    if row.weights_gib is None:
        return None
    predicted = stage_weights(config)
    return StageWeights(row.weights_gib, row.weights_gib + predicted.last_gib - predicted.first_gib)


def _not_computed(row: LogRow, reason: str) -> CheckedRow:
    return CheckedRow(
        id=row.id,
        model=row.model,
        vllm_version=row.version_text,
        generation=None,
        logged_weights_gib=row.weights_gib,
        logged_available_kv_gib=row.available_kv_gib,
        logged_kv_cache_tokens=row.kv_cache_tokens,
        logged_outcome=row.outcome,
        logged_refused=row.was_refused,
        predicted_weights=None,
        logged_weights=None,
        adds_up=True,
        reason=reason,
    )


def check_row(row: LogRow) -> CheckedRow:
    """One row computed both ways; never raises for what a row says."""
    known = _known_model(row)
    described = known or model_from_row(row)
    if described is None:
        return _not_computed(
            row, "the catalog does not know the model, and the row lacks its layers, heads or head size"
        )
    memory = gpu_memory(row)
    if memory is None:
        return _not_computed(row, f"the memory of GPU {row.gpu!r} is not known")
    version, assumed = version_of(row)
    try:
        config = deployment(
            described,
            memory,
            version,
            tensor_parallel=row.tensor_parallel,
            pipeline_parallel=row.pipeline_parallel,
            max_model_len=row.max_model_len,
            kv_dtype=row.kv_dtype,
            gpu_memory_utilization=row.gpu_memory_utilization,
            max_num_seqs=row.max_num_seqs,
            max_num_batched_tokens=row.max_num_batched_tokens,
            enforce_eager=row.enforce_eager,
            engine=row.engine,
        )
    except SizingError as error:
        return _not_computed(row, str(error))
    tokens = _logged_tokens(row, config)
    logged = _logged_stage_weights(row, config)
    contradiction = _contradiction(row, config, tokens)
    notes = [
        f"version not given, {version} assumed" if assumed else "",
        "" if known else "model not in the catalog: geometry from the row, weights not predicted",
        "" if known or logged else "weights are neither logged nor predictable, so nothing can be computed",
        f"does not add up: {contradiction}" if contradiction else "",
    ]
    return CheckedRow(
        id=row.id,
        model=row.model,
        vllm_version=row.version_text,
        generation=config.generation.name,
        logged_weights_gib=row.weights_gib,
        logged_available_kv_gib=row.available_kv_gib,
        logged_kv_cache_tokens=tokens,
        logged_outcome=row.outcome,
        logged_refused=row.was_refused,
        predicted_weights=_prediction(fit(config), row, tokens) if known else None,
        logged_weights=_prediction(fit(config, weights=logged), row, tokens) if logged else None,
        adds_up=not contradiction,
        reason="; ".join(note for note in notes if note),
    )


def _quantile(values: list[float], share: float) -> float | None:
    """The smallest value that at least ``share`` of the values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else None


def _figures(values: Iterable[float | None]) -> dict[str, Any]:
    sizes = [abs(value) for value in values if value is not None]
    return {
        "rows": len(sizes),
        "median": statistics.median(sizes) if sizes else None,
        "p90": _quantile(sizes, 0.9),
        "mean": statistics.fmean(sizes) if sizes else None,
    }


def _summary(rows: list[CheckedRow]) -> dict[str, Any]:
    def figures(basis: str) -> dict[str, Any]:
        found = [prediction for row in rows if (prediction := getattr(row, basis)) is not None]
        return {
            "available_error_gib": _figures(prediction.available_error_gib for prediction in found),
            "available_relative_error": _figures(prediction.available_relative_error for prediction in found),
            "tokens_relative_error": _figures(prediction.tokens_relative_error for prediction in found),
        }

    return {"predicted_weights": figures("predicted_weights"), "logged_weights": figures("logged_weights")}


def check_rows(rows: Iterable[LogRow]) -> dict[str, Any]:
    """All rows and their summaries as plain data. Rows that do not add up are listed and left out of the summaries."""
    checked = [check_row(row) for row in rows]
    sound = [row for row in checked if row.adds_up]
    names = sorted({row.generation for row in sound if row.generation is not None})
    return {
        "rows": [row.as_json() for row in checked],
        "summary": {
            "all": _summary(sound),
            "by_generation": {name: _summary([row for row in sound if row.generation == name]) for name in names},
        },
        "not_computed": [{"id": row.id, "reason": row.reason} for row in checked if row.best is None],
        "not_adding_up": [{"id": row.id, "reason": row.reason} for row in checked if not row.adds_up],
        "fitting_but_refused": [row.id for row in checked if row.fitting_but_refused],
    }
