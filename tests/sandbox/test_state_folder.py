"""The folder: private, never somebody else's, and used by one command at a time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sandbox import state_folder
from sandbox.errors import InputError, SandboxError
from sandbox.state_folder import State, StateFolder, write_private


def test_it_is_private_and_leaves_nothing(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "a" / "sandbox")
    folder.create()
    folder.write_state(State(ports={"etcd": 1}))
    write_private(folder.kubeconfig, "secret")
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert folder.read_state().ports == {"etcd": 1}
    folder.remove()
    assert not folder.path.exists()


def test_a_folder_with_other_files_is_refused_and_untouched(tmp_path: Path) -> None:
    tmp_path.joinpath("thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match=r"thesis\.txt"):
        StateFolder(tmp_path).create()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.joinpath("file").touch()
    with pytest.raises(InputError, match="GPU_INFERENCE_SANDBOX_DIR"), StateFolder(tmp_path / "file" / "x").locked():
        pass


def test_a_full_disk_is_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_folder, "MINIMUM_FREE_MIB", 2**40)
    folder = StateFolder(tmp_path / "sandbox")
    with pytest.raises(InputError, match=r"has \d+ MiB free; the sandbox needs"):
        folder.create()
    assert not folder.exists


def test_without_a_state_file_only_what_a_sandbox_makes_is_deleted(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    folder.create()
    folder.path.joinpath("sandbox.json").unlink()
    folder.path.joinpath("thesis.txt").touch()
    folder.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_one_folder_by_two_paths_is_one_sandbox(tmp_path: Path) -> None:
    tmp_path.joinpath("real").mkdir()
    tmp_path.joinpath("link").symlink_to("real")
    assert StateFolder(tmp_path / "link").path == StateFolder(tmp_path / "real").path


def test_a_damaged_state_file_is_an_empty_state(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "sandbox")
    folder.create()
    folder.path.joinpath("sandbox.json").write_text('{"ports": {"etcd"', encoding="utf-8")
    assert folder.read_state() == State()


def test_a_second_command_waits_for_the_first(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "sandbox")
    entered = threading.Event()

    def second() -> None:
        with folder.locked():
            entered.set()

    thread = threading.Thread(target=second)
    with folder.locked():
        thread.start()
        assert not entered.wait(0.3)
    assert entered.wait(5)
    thread.join()


def test_a_waiter_whose_folder_was_deleted_gets_a_new_one(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path / "sandbox")
    seen: list[bool] = []

    def second() -> None:
        with folder.locked():
            seen.append(folder.path.is_dir())

    thread = threading.Thread(target=second)
    with folder.locked():
        folder.create()
        thread.start()
        folder.remove()
    thread.join(10)
    assert seen == [True]


def test_a_waiter_gives_up_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_folder, "LOCK_TIMEOUT_SECONDS", 0.2)
    folder = StateFolder(tmp_path / "sandbox")
    with folder.locked(), pytest.raises(SandboxError, match="Another sandbox command"), folder.locked():
        pass
