"""Whether a preview passes the check, and why not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from report.acknowledgements import line_for
from report.events import Preview
from report.hazards import Hazard, hazards


@dataclass(frozen=True)
class Judgement:
    """One stack's preview, what it ends, and what of that nobody has acknowledged."""

    preview: Preview
    hazards: tuple[Hazard, ...]
    unacknowledged: tuple[Hazard, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the check fails; empty where it passes. Plain words, no name from the preview."""
        violations = sum(finding.verdict == "violation" for finding in self.preview.findings)
        found = []
        if self.unacknowledged:
            found.append(f"**{_counted(len(self.unacknowledged), 'replacement or drain')} not acknowledged**")
        if violations:
            found.append(f"{_counted(violations, 'policy violation')}")
        if not self.preview.finished:
            found.append("the preview did not finish")
        elif not self.preview.succeeded and (self.preview.errors or not violations):
            found.append("the preview failed")
        return tuple(found)


def judge(preview: Preview, acknowledged: Collection[str]) -> Judgement:
    """The judgement of a preview, with the lines that the pull request acknowledges."""
    found = hazards(preview.changes)
    open_ones = tuple(
        hazard
        for hazard in found
        if hazard.needs_acknowledgement and line_for(hazard, preview.stack) not in acknowledged
    )
    return Judgement(preview, found, open_ones)


def _counted(number: int, what: str) -> str:
    plural = "replacements or drains" if what.startswith("replacement") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"
