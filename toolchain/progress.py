"""Shows a build's progress: a live line in a terminal, plain lines elsewhere (CI)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status
from rich.text import Text

# How often a build that prints nothing says that it is still at work, where no line can be redrawn.
_HEARTBEAT_SECONDS = 30.0


def clock(seconds: float) -> str:
    """A duration as m:ss."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Step:
    """One tool's build on the screen."""

    def __init__(self, console: Console, title: str, status: Status | None) -> None:
        self._console = console
        self._title = title
        self._status = status
        self._started = time.monotonic()
        self._last_line = self._started

    @property
    def elapsed_seconds(self) -> float:
        """Time since the step began."""
        return time.monotonic() - self._started

    def update(self, doing: str) -> None:
        """Shows what is being done now. Call it often: it decides how much of that to print."""
        line = f"{self._title} · {clock(self.elapsed_seconds)} · {doing}"
        if self._status is not None:
            # A Text, since a str would be read as markup.
            self._status.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif time.monotonic() - self._last_line >= _HEARTBEAT_SECONDS:
            self._last_line = time.monotonic()
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def step(console: Console, part: int, parts: int, what: str) -> Iterator[Step]:
    """Shows the building of one of several parts; says how long it took when it went well."""
    title = f"[{part}/{parts}] {what}"
    if console.is_terminal:
        with console.status("") as status:
            current = Step(console, title, status)
            current.update("starting")
            yield current
    else:
        console.print(f"{title} …", highlight=False, markup=False, soft_wrap=True)
        current = Step(console, title, None)
        yield current
    console.print(f"{title} · done in {clock(current.elapsed_seconds)}", highlight=False, markup=False, soft_wrap=True)
