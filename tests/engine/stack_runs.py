"""Runs of our program on a sandbox of the tests' own, with stack files that a test may change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox.control_plane import Sandbox
from tests.stack_files import REPOSITORY, stack_config

TIMEOUT_SECONDS = 240
_SCRIPT = """
import sys
from pathlib import Path
from rich.console import Console
from sandbox.control_plane import Sandbox
from sandbox.errors import SandboxError
from sandbox.stacks import runs
from sandbox.stacks.summary import closing_summary
from sandbox.stacks.workspace import Workspace
sandbox = Sandbox(report=print)
verb, file, *arguments = sys.argv[1:]
workspace = Workspace(sandbox.folder, "sandbox", Path(file))
try:
    getattr(runs, verb)(sandbox, workspace, print, arguments)
except SandboxError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def _short(urn: str) -> str:
    """``type::name`` of a URN, without the types of its parents."""
    return "::".join(urn.split("::")[2:]).split("$")[-1]


@dataclass(frozen=True)
class Run:
    """How a run ended, what it said, and the engine's own events."""

    code: int
    text: str
    events: list[dict[str, Any]]

    def outcomes(self) -> dict[str, str]:
        """What a refresh found of each resource that changed: ``update`` or ``delete``."""
        found = {}
        for event in self.events:
            metadata = event.get("resOutputsEvent", {}).get("metadata", {})
            if metadata.get("op") in {"update", "delete"}:
                found[_short(metadata["urn"])] = metadata["op"]
        return found

    def steps(self) -> dict[str, str]:
        """What the engine did to each resource, by ``type::name``; unchanged ones are left out."""
        found = {}
        for event in self.events:
            metadata = event.get("resourcePreEvent", {}).get("metadata", {})
            if metadata.get("op", "same") != "same":
                found[_short(metadata["urn"])] = metadata["op"]
        return found


class StackRuns:
    """``up``, ``preview``, ``refresh`` and ``destroy`` as ``make`` runs them."""

    def __init__(self, folder: Path) -> None:
        self.sandbox = Sandbox(folder)
        self.folder = folder
        self.files = Path(tempfile.mkdtemp(dir=folder.parent))

    def stack_file(self, change: Callable[[dict[str, Any]], Any] | None = None) -> Path:
        """The sandbox's stack file; ``change`` may edit its config."""
        config = stack_config()
        if change:
            change(config)
        path = self.files / "Pulumi.sandbox.yaml"
        path.write_text(yaml.safe_dump({"config": config}), encoding="utf-8")
        return path

    def start(self, verb: str, file: Path, *arguments: str) -> subprocess.Popen[str]:
        """Begin a run in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, verb, str(file), *arguments],
            # The second variable is what makes the CLI know --event-log.
            env=os.environ | {"GPU_INFERENCE_SANDBOX_DIR": str(self.folder), "PULUMI_DEBUG_COMMANDS": "true"},
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, verb: str, file: Path, *arguments: str) -> Run:
        """A run from start to end; fails the test when it takes longer than ``TIMEOUT_SECONDS``."""
        log = self.files / f"{verb}-events.json"
        log.unlink(missing_ok=True)
        process = self.start(verb, file, "--event-log", str(log), *arguments)
        text, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return Run(process.returncode, text, [json.loads(line) for line in lines])


def engine_processes(folder: Path) -> Iterator[tuple[int, str]]:
    """Processes that a run on this sandbox started: engine, language host, program, pack, provider."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes().decode(errors="replace")
                command = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ").strip()
            except OSError:
                continue
            if f"PULUMI_HOME={folder}/pulumi/home" in environment.split("\0") and command:
                yield int(entry.name), command
