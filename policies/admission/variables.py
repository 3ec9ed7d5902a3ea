"""The variables that the rules on pods share; a policy holds those that its rule reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.admission.cel import one_line
from policies.admission.containers import PODS, described
from policies.admission.parallelism import parallelism

VARIABLES: dict[str, str] = {
    "pods": one_line(PODS),
    "containers": one_line(described("?containers")),
    "init_containers": one_line(described("?initContainers")),
    "all_containers": "variables.containers + variables.init_containers",
    "servers": "variables.containers.filter(c, c.arguments != '')",
    "parallelism": parallelism(),
}
"""The shared variables in an order in which each reads only those before it."""


def needed(expression: str) -> Iterator[tuple[str, str]]:
    """The shared variables that an expression reads, directly or through others, in their order."""
    wanted = set(re.findall(r"variables\.(\w+)", expression))
    for name, text in reversed(VARIABLES.items()):
        if name in wanted:
            wanted |= set(re.findall(r"variables\.(\w+)", text))
    for name, text in VARIABLES.items():
        if name in wanted:
            yield name, text
