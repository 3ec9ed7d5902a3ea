"""One environment variable of a container: its value and where it stands."""

from __future__ import annotations

from policies.model import Path
from policies.unknowns import known
from policies.workloads.pods import Container
from policies.workloads.shell import UNRESOLVED


def variable(container: Container, name: str) -> tuple[str | None, Path]:
    """The value of a variable and its path; None where it isn't set here, or a reference provides it.

    Raises:
        NotDecidedError: the value is not known yet.
    """
    value = container.environment.get(name)
    row = container.environment_row(name)
    path = row[1] if row else container.path
    if row:
        known(row[0].get("value"))
    return (None if value is None or UNRESOLVED in value else value), path
