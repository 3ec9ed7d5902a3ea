"""What the working tree changes against its base, on a sandbox of its own.

The base comes up on the stand-ins, then the working tree is previewed against it. Both are checked out in turn in one
git worktree, ``.pr-report/tree``: its sandbox and every path in the stack's state stay the same, so that the preview
shows the change and nothing else. The sandbox stays up for the next run; ``end`` takes it down.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from report.errors import InputError, ReportError

REPOSITORY: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = REPOSITORY / ".pr-report"
LONGEST_SECONDS: Final = 3600
"""For one step. Half a minute is usual; a base with other Go modules builds them first (25 minutes on two cores)."""
_PINS = ("requirements.txt", "requirements-dev.txt")
_BASES = ("origin/main", "main")


def record(stack: str, base: str | None) -> Path:
    """The event log of the working tree's preview against ``base`` (a commit; None: where it left main).

    Raises:
        InputError: there is no such stack or commit.
        ReportError: the base doesn't come up, or another report is being made.
    """
    stack_file = Path("stacks") / f"Pulumi.{stack}.yaml"
    if not (REPOSITORY / stack_file).is_file():
        known = sorted(path.name.split(".")[1] for path in (REPOSITORY / "stacks").glob("Pulumi.*.yaml"))
        raise InputError(f"There is no stack {stack!r}: no file {stack_file}. There are: {', '.join(known)}.")
    commit = _merge_base(base)
    with _alone():
        tree = _Tree(FOLDER / "tree")
        if _git_answers("ls-tree", commit, str(stack_file)):
            _say(f"The base, {commit[:12]}, comes up on the stand-ins")
            tree.check_out(commit)
            tree.keep_sandbox_of(stack)
            if tree.sandbox("deploy", "--stack", stack):
                raise ReportError("The base does not come up (see above), so there is nothing to compare with.")
            _say("The working tree is previewed against it")
            tree.check_out(_working_tree())
        else:
            _say(f"The base, {commit[:12]}, has no stack {stack}: all of it is new")
            tree.check_out(_working_tree())
            tree.keep_sandbox_of(None)
        log = FOLDER / f"{stack}.jsonl"
        log.write_text("", encoding="utf-8")  # where the engine refuses at once it writes none, and that is a result
        tree.keep_sandbox_of(stack)
        tree.sandbox("preview", "--stack", stack, "--", "--event-log", str(log))
    return log


def end() -> None:
    """Take the sandbox down and delete ``.pr-report``."""
    if not FOLDER.is_dir():
        return
    with _alone():
        tree = _Tree(FOLDER / "tree")
        if tree.path.is_dir():
            tree.keep_sandbox_of(None)
            _git("worktree", "remove", "--force", "--force", str(tree.path))
    shutil.rmtree(FOLDER)


class _Tree:
    """The git worktree in which base and head take turns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._of_stack = FOLDER / "stack"

    def check_out(self, commit: str) -> None:
        """Have the files of a commit, and the packages that it pins."""
        if self.path.is_dir():
            _git("-C", str(self.path), "checkout", "--quiet", "--detach", "--force", commit)
            _git("-C", str(self.path), "clean", "--quiet", "--force", "-d", "--exclude=.venv")
        else:
            _git("worktree", "prune")
            _git("worktree", "add", "--quiet", "--detach", "--force", str(self.path), commit)
        same = all((self.path / name).read_bytes() == (REPOSITORY / name).read_bytes() for name in _PINS)
        self._take_packages_from(Path(sys.prefix) if same else FOLDER / "base-venv")
        if not same and self._run(["make", "setup"]):
            raise ReportError("The base's packages can't be installed (see above).")

    def keep_sandbox_of(self, stack: str | None) -> None:
        """Take the sandbox down unless it is this stack's: two stacks would meet in one cluster."""
        known = self._of_stack.read_text(encoding="utf-8") if self._of_stack.is_file() else ""
        if known and known != stack:
            self.sandbox("down")
        self._of_stack.write_text(stack or "", encoding="utf-8")

    def sandbox(self, *arguments: str) -> int:
        """Run a command of the tree's own sandbox; its exit code."""
        return self._run([str(self.path / ".venv" / "bin" / "python"), "-m", "sandbox", *arguments])

    def _take_packages_from(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        link = self.path / ".venv"
        link.unlink(missing_ok=True)
        link.symlink_to(folder)

    def _run(self, command: Sequence[str]) -> int:
        try:
            # Standard output is the comment's.
            done = subprocess.run(
                command, cwd=self.path, env=self._environment(), stdout=sys.stderr, check=False, timeout=LONGEST_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise ReportError(f"`{' '.join(command[-4:])}` was ended after {LONGEST_SECONDS} s.") from None
        return done.returncode

    def _environment(self) -> Mapping[str, str]:
        # The packages may be those of the repository itself, whose own modules the tree's must come before.
        inherited = {name: value for name, value in os.environ.items() if name != "GPU_INFERENCE_SANDBOX_DIR"}
        return inherited | {"PYTHONPATH": str(self.path), "PULUMI_DEBUG_COMMANDS": "true"}


def _merge_base(base: str | None) -> str:
    if base is None:
        known = [name for name in _BASES if _git_answers("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")]
        if not known:
            raise InputError(
                f"No base: there is neither {' nor '.join(_BASES)}. Name a commit: make pr-report BASE=..."
            )
        base = known[0]
    found = _git_answers("merge-base", "HEAD", base)
    if not found:
        raise InputError(f"{base!r} is no commit that HEAD has an ancestor in common with. Fetch it, with its history.")
    return found


def _working_tree() -> str:
    """A commit of what is in the working tree, made without touching it."""
    untracked = _git_answers("ls-files", "--others", "--exclude-standard", "--directory").splitlines()
    if untracked:
        _say(f"Not in the preview, since git doesn't know them yet (git add): {', '.join(untracked[:5])}")
    # Empty where nothing differs from HEAD. A commit needs an author, and a CI runner has none.
    return _git("-c", "user.name=report", "-c", "user.email=report@localhost", "stash", "create") or "HEAD"


def _git(*arguments: str) -> str:
    """What git prints; a ReportError with its words where it fails, as with a merge that isn't finished."""
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReportError(f"git {' '.join(arguments)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


def _git_answers(*arguments: str) -> str:
    """What git prints; empty where it fails."""
    done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


@contextmanager
def _alone() -> Iterator[None]:
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ReportError("Another report is being made in this clone: wait for it.") from None
        yield
