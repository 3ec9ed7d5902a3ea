"""The variables that the rules on pods share; a policy holds those that its rule reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from policies.admission.cel import one_line
from policies.admission.containers import PODS, described
from policies.admission.parallelism import parallelism


@cache
def _variables() -> dict[str, str]:
    """All of them, in an order in which each reads only those before it."""
    return {
        "pods": one_line(PODS),
        "containers": one_line(described("?containers")),
        "init_containers": one_line(described("?initContainers")),
        "all_containers": "variables.containers + variables.init_containers",
        "servers": "variables.containers.filter(c, c.arguments != '')",
        "parallelism": parallelism(),
    }


def needed(expression: str) -> Iterator[tuple[str, str]]:
    """The shared variables that an expression reads, directly or through others, in their order."""
    wanted = set(re.findall(r"variables\.(\w+)", expression))
    for name, text in reversed(_variables().items()):
        if name in wanted:
            wanted |= set(re.findall(r"variables\.(\w+)", text))
    for name, text in _variables().items():
        if name in wanted:
            yield name, text
