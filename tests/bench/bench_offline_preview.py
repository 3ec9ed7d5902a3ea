"""The offline preview of a stack: seconds, and the CPU time of the engine, the program, the policies and the stand-ins.

    .venv/bin/python -m tests.bench.bench_offline_preview [STACK]

Prints, never fails. CPU seconds, because they are the same on a busy machine; the seconds on the clock are not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.stack_files import REPOSITORY

SAMPLE_SECONDS = 0.05
PARTS = {
    "sandbox.cloud.serve": "stand-ins",
    "pulumi.policy": "policies",
    "pulumi-language-python-exec": "program",
    "pulumi-resource-kubernetes": "Kubernetes provider",
    "infra.resolved_settings": "resolved settings",
    "-m sandbox": "command",
}
"""What a process's command line holds, and which part of the run it belongs to; the rest is the engine."""


def part_of(command: str) -> str:
    """The part of the run that a command line belongs to."""
    return next((part for sign, part in PARTS.items() if sign in command), "engine")


def cpu_seconds(folder: Path) -> dict[int, tuple[str, float]]:
    """Command line and CPU seconds so far of each process of a run on the sandbox in ``folder``, by pid."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if str(folder).encode() not in (entry / "environ").read_bytes():
                continue
            command = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        found[int(entry.name)] = (command, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
    return found


def main(stack: str) -> None:
    """Preview once to warm the disk's cache, then once under watch."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "sandbox", "preview", "--stack", stack]
        environment = os.environ | {"GPU_INFERENCE_SANDBOX_DIR": f"{folder}/sandbox"}
        subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, check=False)
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        seen: dict[int, tuple[str, float]] = {}
        while process.poll() is None:
            seen |= cpu_seconds(Path(folder))
            time.sleep(SAMPLE_SECONDS)
        seconds = time.perf_counter() - started
    by_part: dict[str, float] = defaultdict(float)
    for line, spent in seen.values():
        by_part[part_of(line)] += spent
    table = Table("part", "CPU seconds", "share")
    for part, spent in sorted(by_part.items(), key=lambda item: -item[1]):
        table.add_row(part, f"{spent:.1f}", f"{spent / sum(by_part.values()):.0%}")
    console = Console()
    console.print(f"Offline preview of {stack}: {seconds:.1f} s, exit code {process.returncode}")
    console.print(table)


if __name__ == "__main__":
    main(*sys.argv[1:] or ["prod"])
