"""The commands as a user types them: what they print, and their exit codes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.processes import running
from sandbox.state_folder import StateFolder


def start_command(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox", *arguments],
        env={**os.environ, "GPU_INFERENCE_SANDBOX_DIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command(folder: Path, *arguments: str) -> tuple[int, str, str]:
    process = start_command(folder, *arguments)
    output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


@pytest.mark.engine
def test_from_up_to_down(tmp_path: Path) -> None:
    folder = tmp_path / "a clone's sandbox"
    try:
        code, output, errors = command(folder, "up")
        assert (code, errors) == (0, "")
        assert "The sandbox is up after" in output
        assert "There is no GPU" in output

        code, output, _ = command(folder, "status")
        assert code == 0
        for part in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"):
            assert part in output
        assert "Real:" in output
        assert "Simulated:" in output

        assert command(folder, "kubeconfig")[:2] == (0, f"{folder}/kubeconfig\n")
        exports = command(folder, "env")[1]
        shell = subprocess.run(
            ["sh", "-c", f'{exports}\nprintf %s "$KUBECONFIG"'], capture_output=True, text=True, check=True
        )
        assert shell.stdout == f"{folder}/kubeconfig"
    finally:
        assert command(folder, "down")[0] == 0
    assert not folder.exists()
    assert running(StateFolder(folder)) == []


@pytest.mark.engine
def test_two_ups_at_once_make_one_sandbox(tmp_path: Path) -> None:
    folder = tmp_path / "sandbox"
    try:
        both = [start_command(folder, "up") for _ in range(2)]
        assert [process.wait(120) for process in both] == [0, 0]
        assert sorted(process.part for process in running(StateFolder(folder))) == [
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kwok",
        ]
    finally:
        command(folder, "down")


@pytest.mark.engine
@pytest.mark.parametrize("name", ["status", "env", "kubeconfig"])
def test_a_sandbox_that_is_not_up_is_said(tmp_path: Path, name: str) -> None:
    code, _, errors = command(tmp_path / "sandbox", name)
    assert code == 1
    assert "python -m sandbox up" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "sandbox").exists()


@pytest.mark.engine
def test_down_of_nothing_is_fine(tmp_path: Path) -> None:
    code, output, errors = command(tmp_path / "sandbox", "down")
    assert (code, errors) == (0, "")
    assert "nothing to take down" in output
    assert not (tmp_path / "sandbox").exists()


@pytest.mark.engine
def test_down_after_the_folder_was_deleted_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "sandbox"
    try:
        assert command(folder, "up")[0] == 0
        shutil.rmtree(folder)
    finally:
        assert command(folder, "down")[0] == 0
    assert running(StateFolder(folder)) == []
    assert not folder.exists()


@pytest.mark.engine
def test_a_toolchain_that_cannot_be_had_is_said_without_a_traceback(tmp_path: Path) -> None:
    process = start_command(
        tmp_path / "sandbox",
        "up",
        XDG_CACHE_HOME=str(tmp_path / "no-tools-here"),
        PATH="/nowhere",
    )
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Go" in errors
    assert "Traceback" not in errors


@pytest.mark.engine
def test_somebody_elses_folder_is_refused_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.joinpath("thesis.txt").touch()
    code, _, errors = command(folder, "up")
    assert code == 2
    assert "thesis.txt" in errors
    command(folder, "down")
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
