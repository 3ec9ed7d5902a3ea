"""The commit that stands for a working tree, without the engine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from report import against_base
from report.errors import InputError, ReportError


def git(folder: Path, *arguments: str) -> str:
    author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    done = subprocess.run(["git", *author, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on branch ``change``, one commit ahead of ``main``, where git knows no author."""
    for variable in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(variable, "/dev/null")
    monkeypatch.setattr(against_base, "REPOSITORY", tmp_path)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    for branch in ("main", "change"):
        git(tmp_path, "checkout", "--quiet", "-B", branch)
        (tmp_path / "file").write_text(branch, encoding="utf-8")
        git(tmp_path, "add", "file")
        git(tmp_path, "commit", "--quiet", "--message", branch)
    return tmp_path


def content(clone: Path, commit: str) -> str:
    return git(clone, "show", f"{commit}:file")


def test_a_clean_tree_is_its_commit(clone: Path) -> None:
    assert content(clone, against_base._working_tree()) == "change"


def test_what_is_not_committed_counts_and_stays(clone: Path) -> None:
    (clone / "file").write_text("edited", encoding="utf-8")
    assert content(clone, against_base._working_tree()) == "edited"
    assert (clone / "file").read_text(encoding="utf-8") == "edited"
    assert git(clone, "stash", "list") == ""


def test_what_git_does_not_know_is_named(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clone / "new.yaml").write_text("", encoding="utf-8")
    against_base._working_tree()
    assert "new.yaml" in capsys.readouterr().err


def test_a_merge_that_is_not_finished_is_refused(clone: Path) -> None:
    git(clone, "checkout", "--quiet", "main")
    (clone / "file").write_text("other", encoding="utf-8")
    git(clone, "commit", "--quiet", "--all", "--message", "other")
    git(clone, "merge", "change")
    with pytest.raises(ReportError, match="stash create"):
        against_base._working_tree()


def test_the_base_is_where_the_branch_left_main(clone: Path) -> None:
    start = git(clone, "rev-parse", "main")
    git(clone, "branch", "--force", "main", git(clone, "commit-tree", "main^{tree}", "-p", "main", "-m", "later"))
    assert against_base._merge_base(None) == start
    assert against_base._merge_base("HEAD") == git(clone, "rev-parse", "HEAD")


def test_a_clone_without_main_asks_for_a_base(clone: Path) -> None:
    git(clone, "branch", "--delete", "--force", "main")
    with pytest.raises(InputError, match="BASE="):
        against_base._merge_base(None)
