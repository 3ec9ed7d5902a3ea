"""Builds what is missing of a set of tools, one `go build` at a time."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from rich.console import Console

from toolchain import cache, gocommand, goerrors, preflight, progress
from toolchain.errors import ToolchainError
from toolchain.gocommand import GoFacts
from toolchain.lock import exclusive
from toolchain.tools import TOOLS, GoBinary, ModuleFiles, Tool

_UPDATE_SECONDS = 0.2
# Below this, a sentence about the duration is noise.
_WORTH_SAYING_MINUTES = 0.5


def go_facts() -> GoFacts:
    """Go's facts, from the folder that asks for the newest Go. Raises ToolchainError where Go is missing or too old."""
    folders = tuple(folder for tool in TOOLS for folder in tool.input_folders)
    required = gocommand.required_version(folders)
    newest = next(folder for folder in folders if gocommand.required_version((folder,)) == required)
    return gocommand.facts(newest, required)


def ensure(tools: Sequence[Tool], console: Console) -> dict[str, Path]:
    """The cache entry of each tool, built where it is missing. `tools` has parts before what gathers them.

    Raises ToolchainError where something is missing on this machine or Go fails.
    """
    go = go_facts()
    entries = {tool.name: cache.entry(tool, go) for tool in tools}
    if any(not path.exists() for path in entries.values()):
        _build_missing(tools, entries, go, console)
    return entries


def _build_missing(tools: Sequence[Tool], entries: dict[str, Path], go: GoFacts, console: Console) -> None:
    def say_who(holder: str) -> None:
        console.print(f"Another build is at work (process {holder}); waiting for it.", highlight=False)

    with exclusive(cache.root() / cache.LOCK_FILE, say_who) as lock:
        missing = [tool for tool in tools if not entries[tool.name].exists()]
        if not missing:
            return
        preflight.check(missing, (cache.root(), go.build_cache, go.module_cache))
        _announce(missing, console)
        for number, tool in enumerate(missing, start=1):
            with (
                progress.step(console, number, len(missing), f"{tool.name}, {tool.summary}") as step,
                cache.work_folder(entries[tool.name]) as folder,
            ):
                _fill(tool, folder, entries, step, lock)


def _announce(missing: Sequence[Tool], console: Console) -> None:
    minutes = sum(tool.cold_build_minutes for tool in missing)
    if minutes >= _WORTH_SAYING_MINUTES:
        names = ", ".join(tool.name for tool in missing)
        console.print(
            f"Building {names}: about {minutes:.0f} min on 2 cores the first time, less with Go's build cache warm. "
            f"Kept in {cache.root()} for later runs; an interrupted build goes on where it was.",
            highlight=False,
            soft_wrap=True,
        )


def _fill(tool: Tool, folder: Path, entries: dict[str, Path], step: progress.Step, lock: int) -> None:
    """Makes the content of one cache entry."""
    for part in tool.parts:
        for path in entries[part].iterdir():
            # A hard link, since the engine looks beside the file that a symbolic link leads to.
            os.link(path, folder / path.name, follow_symlinks=False)
    for source in tool.input_folders[:1]:
        # Go would write a new one, and trust what it downloads.
        if not (source / "go.sum").exists():
            raise ToolchainError(f"{source}/go.sum is missing.", "Restore it: it says what the modules must be.")
    if tool.binary is not None:
        _go_build(tool, tool.binary, folder / tool.binary.name, step, lock)
        for name in tool.binary.links:
            (folder / name).symlink_to(tool.binary.name)
    for files in tool.files:
        step.update(f"files of {files.module}")
        _copy(tool.input_folders[0], files, folder / files.folder)


def _go_build(tool: Tool, binary: GoBinary, output: Path, step: progress.Step, lock: int) -> None:
    source = tool.input_folders[0]
    step.update("resolving modules")
    flags = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in binary.variables.items())])
    with tempfile.TemporaryDirectory(prefix="toolchain-") as scratch:
        overlay = Path(scratch) / "overlay.json"
        overlay.write_text(json.dumps({"Replace": _embeds(source, binary)}))
        command = ["go", "build", "-v", "-trimpath", f"-overlay={overlay}", f"-ldflags={flags}", "-o", str(output)]
        _run_go([*command, binary.package], source, step, lock)


def _embeds(source: Path, binary: GoBinary) -> dict[str, str]:
    """Where the compiler finds the files that the main package embeds: in their modules, not in the repo."""
    return {
        str(source / Path(embed.path).name): str(gocommand.module_folder(source, embed.module) / embed.path)
        for embed in binary.embeds
    }


def _run_go(command: list[str], source: Path, step: progress.Step, lock: int) -> None:
    """Runs go build -v, whose stderr names each package and module that it works on, and shows that."""
    process = subprocess.Popen(
        command,
        cwd=source,
        env=gocommand.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=(lock,),
    )
    lines: list[str] = []
    reader = threading.Thread(target=_collect, args=(process.stderr, lines), daemon=True)
    reader.start()
    try:
        while reader.is_alive():
            reader.join(_UPDATE_SECONDS)
            step.update(_doing(lines))
        code = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if code != 0:
        words = goerrors.last_words(lines)
        raise ToolchainError(f"go build of {source.name} failed:\n{words}", goerrors.hint(words))


def _collect(stream: IO[str] | None, lines: list[str]) -> None:
    for line in stream or ():
        lines.append(line.rstrip())


def _doing(lines: Sequence[str]) -> str:
    compiled = sum(not line.startswith("go: ") for line in lines)
    return f"{compiled} packages compiled, now {lines[-1]}" if lines else "looking up compiled packages"


def _copy(source: Path, files: ModuleFiles, target: Path) -> None:
    module = gocommand.module_folder(source, files.module)
    target.mkdir(parents=True, exist_ok=True)
    for pattern in files.patterns:
        found = sorted(module.glob(pattern))
        if not found:
            raise ToolchainError(
                f"The module {files.module} has no {pattern}.", "Its pin changed: correct the pattern in tools.py."
            )
        for path in found:
            # The contents alone: a module's files are read-only, an entry's must be removable.
            (target / path.name).write_bytes(path.read_bytes())


def prune(console: Console) -> None:
    """Removes every cache entry that the present pins don't need."""
    go = go_facts()
    with exclusive(cache.root() / cache.LOCK_FILE, lambda holder: console.print(f"Waiting for process {holder}.")):
        removed = cache.prune(cache.entry(tool, go) for tool in TOOLS)
    for path in removed:
        console.print(f"removed {path.name}", highlight=False)
    console.print(f"{len(removed)} old entries removed.", highlight=False)
