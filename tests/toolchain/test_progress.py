"""What a build shows where nothing can be redrawn."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from toolchain import progress


@given(st.floats(0, 1e5))
def test_the_clock_counts_whole_seconds(seconds: float) -> None:
    minutes, rest = progress.clock(seconds).split(":")
    assert int(minutes) * 60 + int(rest) == int(seconds)
    assert len(rest) == 2


def test_without_a_terminal_a_long_step_gives_a_sign_of_life_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    shown = io.StringIO()
    with progress.step(Console(file=shown, width=40), 2, 5, "etcd, the control plane's store") as step:
        for second in range(65):
            now = 1000.0 + second
            step.update(f"{second} packages compiled, now go.etcd.io/etcd/server/v3/[wal]")
    assert shown.getvalue().splitlines() == [
        "[2/5] etcd, the control plane's store …",
        "[2/5] etcd, the control plane's store · 0:30 · 30 packages compiled, now go.etcd.io/etcd/server/v3/[wal]",
        "[2/5] etcd, the control plane's store · 1:00 · 60 packages compiled, now go.etcd.io/etcd/server/v3/[wal]",
        "[2/5] etcd, the control plane's store · done in 1:04",
    ]


def test_a_terminal_shows_part_time_and_what_as_they_are_written() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system=None, width=120)
    with progress.step(console, 1, 2, "kwok, simulates the nodes") as step:
        step.update("3 packages compiled, now example.org/[x]")
    assert "[1/2] kwok, simulates the nodes · 0:00 · 3 packages compiled, now example.org/[x]" in shown.getvalue()


def test_a_step_that_fails_is_not_called_done() -> None:
    shown = io.StringIO()
    with pytest.raises(RuntimeError), progress.step(Console(file=shown), 1, 1, "etcd"):
        raise RuntimeError
    assert "done" not in shown.getvalue()
