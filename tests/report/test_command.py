"""The command as a person calls it: wrong input is one sentence and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.event_logs import DATA

REPOSITORY = Path(__file__).resolve().parents[2]


def report(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "report", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    "arguments",
    [
        ("render", "nowhere.jsonl"),
        ("render", "README.md"),
        ("render", "."),
        ("render", str(DATA / "no-change.jsonl"), "--acknowledged", "nowhere.md"),
        ("against-base", "--stack", "nonsense"),
        ("against-base", "--stack", "../sandbox"),
        ("against-base", "--base", "no-such-commit"),
        ("render",),
    ],
)
def test_wrong_input(arguments: tuple[str, ...]) -> None:
    done = report(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


def test_several_stacks_make_one_comment() -> None:
    done = report("render", str(DATA / "no-change.jsonl"), str(DATA / "aws-group-smaller.jsonl"))
    assert done.returncode == 1
    assert done.stdout.count("### Stack") == 2
