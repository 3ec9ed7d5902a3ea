"""Processes are known by their mark: ours are found and ended, others' never touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.processes import Process, log_tail, running, start, stop
from sandbox.state_folder import StateFolder

SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[StateFolder]:
    made = StateFolder(tmp_path / "sandbox")
    made.create()
    yield made
    stop(made, running(made))


def test_a_process_is_found_with_what_it_was_started_as(folder: StateFolder) -> None:
    started = start(folder, "etcd", "d1", SLEEP, {})
    [found] = running(folder)
    assert (found.part, found.digest, found.pid) == ("etcd", "d1", started.pid)
    assert abs(found.started_at - time.time()) < 5
    assert found.memory_mib > 1
    assert folder.pids.joinpath("etcd.pid").read_text(encoding="ascii").strip() == str(started.pid)


def test_a_killed_process_is_gone_at_once_even_as_a_zombie(folder: StateFolder) -> None:
    started = start(folder, "etcd", "d1", SLEEP, {})
    os.kill(started.pid, signal.SIGKILL)
    os.waitid(os.P_PID, started.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet collected: a zombie
    assert running(folder) == []


def test_another_folders_process_is_not_ours(folder: StateFolder, tmp_path: Path) -> None:
    other = StateFolder(tmp_path / "other")
    other.create()
    theirs = start(other, "etcd", "d1", SLEEP, {})
    assert running(folder) == []
    # As after a pid was reused: the record says it is ours, the process says it isn't.
    stop(folder, [Process("etcd", "d1", theirs.pid, 0.0)])
    assert theirs.poll() is None
    stop(other, running(other))
    assert theirs.wait(5) == -signal.SIGKILL


def test_a_foreign_process_with_our_pid_survives(folder: StateFolder) -> None:
    foreign = subprocess.Popen(SLEEP)
    try:
        folder.pids.joinpath("etcd.pid").write_text(str(foreign.pid), encoding="ascii")
        stop(folder, [Process("etcd", "d1", foreign.pid, 0.0)])
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


def test_a_stopped_process_ends_too(folder: StateFolder) -> None:
    stopped = start(folder, "kwok", "d1", SLEEP, {})
    os.kill(stopped.pid, signal.SIGSTOP)
    stop(folder, running(folder))
    assert stopped.wait(1) == -signal.SIGKILL
    assert running(folder) == []
    assert not folder.pids.joinpath("kwok.pid").exists()


def test_the_users_environment_stays_out(folder: StateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCD_DATA_DIR", "/elsewhere")
    started = start(
        folder, "etcd", "d1", (sys.executable, "-c", "import os; print(sorted(os.environ))"), {"HOME": "/h"}
    )
    assert started.wait(10) == 0
    assert "ETCD_DATA_DIR" not in log_tail(folder, "etcd")
    assert "HOME" in log_tail(folder, "etcd")


def test_the_log_of_the_run_before_is_kept(folder: StateFolder) -> None:
    for word in ("first", "second"):
        start(folder, "etcd", "d1", (sys.executable, "-c", f"print('{word}')"), {}).wait(10)
    assert log_tail(folder, "etcd") == "second"
    assert folder.logs.joinpath("etcd.previous.log").read_text(encoding="utf-8") == "first\n"


def test_a_program_that_is_not_there(folder: StateFolder) -> None:
    with pytest.raises(SandboxError, match="etcd can't be started"):
        start(folder, "etcd", "d1", ("/nowhere/etcd",), {})
