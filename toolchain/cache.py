"""The cache of built tools: one folder an entry, named by the content of what it is built from.

An entry that exists is complete: it is built in a folder of its own and renamed into place. Nothing in an entry
changes afterwards.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toolchain.gocommand import GoFacts
from toolchain.tools import Tool, find

# Part of every key: raise it when the way of building changes and the entries of before are no longer good.
_RECIPE = "1"
_WORK_FOLDER = ".building"
LOCK_FILE = "build.lock"


def root() -> Path:
    """The cache folder: $XDG_CACHE_HOME or ~/.cache, then gpu-inference/toolchain."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gpu-inference" / "toolchain"


def key(tool: Tool, go: GoFacts) -> str:
    """16 hex digits that change whenever something changes that the tool's entry is made from.

    That is the tool's recipe, every file of its input folders, Go's version, the platform, and the keys of its parts.
    """
    digest = hashlib.sha256()
    for fact in (
        _RECIPE,
        repr((tool.binary, tool.files)),
        go.version,
        go.os,
        go.arch,
        go.cgo,
        *(key(find(part), go) for part in tool.parts),
    ):
        digest.update(f"{len(fact)}:{fact}".encode())
    for folder in tool.input_folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder.parent)}:{len(content)}:".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def entry(tool: Tool, go: GoFacts) -> Path:
    """Where the tool's files are, or will be once it is built."""
    return root() / f"{tool.name}-{key(tool, go)}"


@contextmanager
def work_folder(target: Path) -> Iterator[Path]:
    """A fresh folder that becomes `target` when the block ends well, and is removed when it doesn't.

    The caller holds the build lock, so what lies in the work folder from before belongs to a build that was killed.
    """
    parent = target.parent / _WORK_FOLDER
    shutil.rmtree(parent, ignore_errors=True)
    folder = parent / target.name
    folder.mkdir(parents=True)
    try:
        yield folder
        folder.rename(target)
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def prune(keep: Iterable[Path]) -> list[Path]:
    """Removes every entry that is not in `keep`, and returns what was removed. The caller holds the build lock."""
    kept = {path.name for path in keep} | {LOCK_FILE}
    removed = [path for path in sorted(root().iterdir()) if path.name not in kept]
    for path in removed:
        shutil.rmtree(path)
    return removed


def size_mib(path: Path) -> float:
    """The size of the files in a folder, each counted once, in MiB."""
    sizes = {item.stat().st_ino: item.stat().st_size for item in path.rglob("*") if item.is_file()}
    return sum(sizes.values()) / 2**20
