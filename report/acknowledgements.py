"""How a pull request says that it means to replace or drain GPUs: a line of its own in the description,
``acknowledge: replace NodeGroup/p5 in prod``. It names what happens, to what, where, so that it covers nothing else.
"""

from __future__ import annotations

import re

from report.hazards import Hazard
from report.markdown import NAME_LENGTH, one_line

_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)
# A list item or a ticked box may stand before it; a box that isn't ticked says nothing.
_PREFIX = re.compile(r"^\s*(?:[-*+]\s+)?(?:\[[xX]\]\s+)?`*")


def line_for(hazard: Hazard, stack: str) -> str:
    """The line that acknowledges a hazard."""
    return f"acknowledge: {hazard.what} {one_line(hazard.change.label, NAME_LENGTH)} in {stack}"


def acknowledged_lines(description: str) -> frozenset[str]:
    """The lines of a pull request's description that acknowledge something; what is commented out does not count."""
    visible = _COMMENT.sub("", description)
    lines = (" ".join(_PREFIX.sub("", line).rstrip("` \t\r").split()) for line in visible.splitlines())
    return frozenset(line for line in lines if line.startswith("acknowledge: "))
