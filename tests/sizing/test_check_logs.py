"""Accuracy on the logged starts (issue 5, section 3), and rows that are odd, empty or wrong."""

from __future__ import annotations

import csv
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sizing.check_logs import check_rows
from sizing.errors import SizingError
from sizing.log_rows import gpu_memory, read_log_rows, version_of

LOGS = Path(__file__).parent / "data" / "kv-cache-logs.csv"


@cache
def document() -> dict[str, Any]:
    return check_rows(read_log_rows(LOGS))


def row(row_id: str) -> dict[str, Any]:
    return next(row for row in document()["rows"] if row["id"] == row_id)


def test_tokens_with_predicted_weights() -> None:
    figures = document()["summary"]["all"]["predicted_weights"]["tokens_relative_error"]
    assert figures["rows"] > 45
    assert figures["median"] <= 0.05
    assert figures["p90"] <= 0.12


def test_available_memory_of_v019_with_logged_weights() -> None:
    figures = document()["summary"]["by_generation"]["v1-topk"]["logged_weights"]["available_error_gib"]
    assert figures["rows"] > 25
    assert figures["mean"] < 0.5


def test_no_refused_row_is_called_fitting() -> None:
    refused = [row for row in document()["rows"] if row["logged_refused"]]
    assert {row["id"] for row in refused} == {"ISS02", "ISS05", "ISS09", "ISS10", "ISS11"}
    assert document()["fitting_but_refused"] == []


def test_rows_that_started_are_called_fitting() -> None:
    # ISS07 gives no max_model_len, and the default of 163,840 tokens would not have started; EMP2 contradicts itself.
    unfit = {
        row["id"] for row in document()["rows"] if row["logged_outcome"] == "starts" and row["predicted_fits"] is False
    }
    assert unfit <= {"ISS07", "EMP2"}


def test_rows_that_contradict_themselves_are_named() -> None:
    assert {entry["id"] for entry in document()["not_adding_up"]} == {"ISS05", "EMP2", "FIL14"}


def test_both_kinds_of_weights_are_reported() -> None:
    both = row("LDP24")
    assert both["predicted_weights"]["predicted_kv_cache_tokens"] == pytest.approx(476016, rel=0.001)
    assert both["logged_weights"]["predicted_kv_cache_tokens"] == pytest.approx(476016, rel=0.001)
    unknown_model = row("ISS21")
    assert unknown_model["predicted_weights"] is None
    assert unknown_model["predicted_kv_cache_tokens"] == unknown_model["logged_weights"]["predicted_kv_cache_tokens"]


def test_a_row_that_can_not_be_computed_says_why() -> None:
    reasons = {entry["id"]: entry["reason"] for entry in document()["not_computed"]}
    assert "memory of GPU" in reasons["FIL26"]
    assert "weights are neither logged nor predictable" in reasons["FIL36"]


def _cells() -> list[dict[str, str]]:
    with LOGS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _check(tmp_path: Path, rows: list[dict[str, str]]) -> dict[str, Any]:
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return check_rows(read_log_rows(path))


ODD = ["", "?", "n/a", "0", "-1", "1e99", "auto", "131,072", "8k", "0.9.2rc1.dev7+gabc", "main", "fp3", "☃", "x" * 500]


@pytest.mark.parametrize("seed", range(20))
def test_no_cell_makes_it_crash(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    rows = _cells()
    for cells in rows:
        for column in chance.sample(list(cells), k=6):
            cells[column] = chance.choice(ODD)
    found = _check(tmp_path, rows)
    assert len(found["rows"]) == len(rows)
    for result in found["rows"]:
        assert result["predicted_weights"] or result["logged_weights"] or result["reason"]


@pytest.mark.parametrize("column", [name for name in _cells()[0] if name != "model"])
def test_a_missing_column_is_tolerated(tmp_path: Path, column: str) -> None:
    rows = [{name: value for name, value in cells.items() if name != column} for cells in _cells()]
    assert len(_check(tmp_path, rows)["rows"]) == len(rows)


@pytest.mark.parametrize(
    ("text", "reported", "memory_gib"),
    [
        ("H100-80GB", "79.19", 79.19),
        ("(79.19 GiB total: H100-80GB class)", "", 79.19),
        ("NVIDIA A100-SXM4-40GB", "", 39.38),
        ("A100 (80GB class)", "", 79.25),
        ("A100 40GB", "", 39.38),
        ("RTX 3090 x2 (club dual)", "", 23.58),
        ("RTX 4070 (laptop, 7.65 GiB)", "", 7.65),
        ("L40S 48GB (46GB)", "", 44.42),
        ("NVIDIA GeForce RTX 4090", "", 23.55),
        ("MI300X (gfx942, 192GB)", "", 191.69),
        ("some 24GB card", "", 24 * 0.985),
        ("Kaggle GPU (not named)", "", None),
    ],
)
def test_gpus_are_found_in_odd_texts(tmp_path: Path, text: str, reported: str, memory_gib: float | None) -> None:
    path = tmp_path / "one.csv"
    path.write_text(f'id,model,gpu,gpu_mem_gib_reported\nA,Qwen/Qwen3-8B,"{text}",{reported}\n', encoding="utf-8")
    memory = gpu_memory(read_log_rows(path)[0])
    assert (memory.memory_gib if memory else None) == (None if memory_gib is None else pytest.approx(memory_gib))


@pytest.mark.parametrize(
    ("text", "engine", "release"),
    [
        ("v0.19.0", "V1", "0.19.0"),
        ("0.11.0+582e4e37.nv25.11", "V1", "0.11.0"),
        ("main 2023-12", "V0", "0.6.3"),
        ("", "V1", "0.11.0"),
        ("0.8.3rc2.dev224+g49c0d11ec", "V0", "0.8.3"),
    ],
)
def test_versions_are_found_in_odd_texts(tmp_path: Path, text: str, engine: str, release: str) -> None:
    path = tmp_path / "one.csv"
    path.write_text(f"id,model,vllm_version,engine\nA,Qwen/Qwen3-8B,{text},{engine}\n", encoding="utf-8")
    version, _ = version_of(read_log_rows(path)[0])
    assert version.release.base_version == release


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe\x00", "no UTF-8"), (b"a,b\n1,2\n", "no column 'model'"), (b"", "no column 'model'")],
)
def test_a_file_that_is_no_log_table(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(SizingError, match=message):
        read_log_rows(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SizingError, match="cannot read"):
        read_log_rows(tmp_path / "none.csv")
