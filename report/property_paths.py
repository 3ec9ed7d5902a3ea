"""Paths into a resource's properties, as the engine writes them: ``spec.containers[0]["a.b/c"].image``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Step = str | int
Path = tuple[Step, ...]

_STEP = re.compile(r"""\["((?:[^"\\]|\\.)*)"\]|\[(\d{1,9})\]|\.?([^.\[\]]+)""")


def parse_path(text: str) -> Path:
    """The steps of a path: keys as text, places in lists as numbers. What can't be read is one key."""
    steps: list[Step] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return (text,)
        quoted, index, key = match.groups()
        steps.append(int(index) if index is not None else key if key is not None else quoted)
        position = match.end()
    return tuple(steps)


def value_at(body: Any, path: Path) -> Any:
    """The value at ``path``; None where there is none."""
    for step in path:
        body = below(body, step)
    return body


def below(value: Any, step: Step) -> Any:
    """What stands one step below ``value``; None where nothing does."""
    if isinstance(value, Mapping):
        return value.get(step)
    return value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None
