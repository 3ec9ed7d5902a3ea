"""`make pr-report` on the real engine: the base comes up, the working tree is previewed against it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from report.comment import MARKER

REPOSITORY = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.engine
STACK_FILE = Path("stacks") / "Pulumi.sandbox.yaml"


def run(clone: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False, timeout=900)


def report(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(clone, sys.executable, "-m", "report", *arguments)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A clone of the repository with the working tree's files committed, so that it has a base of its own."""
    if not (REPOSITORY / ".git").exists():
        pytest.skip("the report compares commits: it needs a clone")
    folder = tmp_path_factory.mktemp("clone") / "repository"
    run(REPOSITORY, "git", "clone", "--quiet", ".", str(folder))
    files = run(REPOSITORY, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout.split("\0")
    for name in filter(None, files):
        target = folder / name
        if (REPOSITORY / name).is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((REPOSITORY / name).read_bytes())
        else:
            target.unlink(missing_ok=True)
    author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    run(folder, "git", "add", "--all")
    run(folder, "git", *author, "commit", "--quiet", "--allow-empty", "--message", "base")
    yield folder
    report(folder, "end")


def test_the_change_and_nothing_else_is_reported(clone: Path) -> None:
    unchanged = report(clone, "against-base", "--base", "HEAD")
    assert unchanged.returncode == 0, unchanged.stderr
    assert unchanged.stdout.startswith(MARKER)
    assert "No resource changes." in unchanged.stdout

    text = (clone / STACK_FILE).read_text(encoding="utf-8")
    (clone / STACK_FILE).write_text(text.replace("shm_gib: 30", "shm_gib: 4"), encoding="utf-8")
    changed = report(clone, "against-base", "--base", "HEAD")
    assert changed.returncode == 1
    assert "❌ violates <code>shm-size</code>" in changed.stdout
    assert "sizeLimit</code>: <code>30Gi</code> → <code>4Gi</code>" in changed.stdout
    assert "| <code>kubernetes:apps/v1:Deployment</code> | 1 |" in changed.stdout
    assert (clone / STACK_FILE).read_text(encoding="utf-8") != text, "the working tree is the author's"

    ended = report(clone, "end")
    assert ended.returncode == 0, ended.stderr
    assert not (clone / ".pr-report").exists()
    assert run(clone, "git", "worktree", "list").stdout.count("\n") == 1
