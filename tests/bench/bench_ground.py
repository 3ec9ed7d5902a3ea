"""How long the README's commands take with the toolchain built, and what a running sandbox weighs. Prints, never fails.

    .venv/bin/python -m tests.bench.bench_ground

On a sandbox of its own; a few minutes. Compare ratios of one run, not seconds of two machines.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from tests.engine.stack_runs import StackRuns

Result = TypeVar("Result")


def timed(action: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds that the action took, and its result."""
    started = time.perf_counter()
    result = action()
    return time.perf_counter() - started, result


def main() -> None:
    """Run everything once, in the order in which a person would."""
    with tempfile.TemporaryDirectory() as folder:
        runs = StackRuns(Path(folder) / "sandbox")
        try:
            file = runs.stack_file()
            cold, _ = timed(lambda: runs.run("up", file))
            unchanged, again = timed(lambda: runs.run("up", file))
            preview, _ = timed(lambda: runs.run("preview", file))
            memory_mib = runs.sandbox.status().memory_mib
            destroy, _ = timed(lambda: runs.run("destroy", file))
            down, _ = timed(runs.sandbox.down)
        finally:
            runs.sandbox.down()
    assert again.steps() == {}
    table = Table("what", "seconds", "times an up without change")
    rows = {
        "up, from no sandbox": cold,
        "up, nothing to change": unchanged,
        "preview, nothing to change": preview,
        "destroy": destroy,
        "sandbox down": down,
    }
    for name, seconds in rows.items():
        table.add_row(name, f"{seconds:.1f}", f"{seconds / unchanged:.1f}")
    console = Console()
    console.print(table)
    console.print(f"A running sandbox: {memory_mib:.0f} MiB resident, all parts together.")


if __name__ == "__main__":
    main()
