"""The comment: one for all stacks of a pull request, the gravest first, the long parts folded and cut to size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from report.acknowledgements import line_for
from report.capacity import Row, capacity
from report.changes import ACTIONS, Action, Change, PropertyChange
from report.events import Preview
from report.findings import Finding, Verdict
from report.hazards import Hazard
from report.judgement import Judgement
from report.markdown import code, details, fit, prose, table_head, table_row
from report.property_paths import value_at
from report.redaction import SECRET, hidden, scrubbed, shown

MARKER: Final = "<!-- gpu-inference:pr-report -->"
"""The first line: by it the comment is found again and written anew."""
LARGEST: Final = 65_000
"""Characters. GitHub refuses more than 65,536."""
_HEAD = 3_000
"""Characters kept for what stands outside the stacks' sections."""
# Shares of a stack's part of the comment; what one leaves over is not handed on, and a tenth is for headings.
_ERRORS, _HAZARDS, _CAPACITY, _FINDINGS, _KINDS, _DETAILS = 0.1, 0.25, 0.1, 0.2, 0.1, 0.15
_WORDS: Mapping[Action, str] = {
    "replace": "replaced",
    "delete": "deleted",
    "create": "created",
    "update": "updated",
    "import": "imported",
    "same": "unchanged",
}
_HAZARD_WORDS: Mapping[str, str] = {
    "replace": "replaced",
    "delete": "deleted",
    "drain": "drained",
    "restart": "restarted",
    "update": "updated",
}


def comment(judgements: Sequence[Judgement], commit: str = "", run_url: str = "") -> str:
    """The Markdown of the comment.

    ``commit`` is the head's, shown so that a reader knows which push it is about; ``run_url`` is the workflow run's
    page, as GitHub states it. Without a judgement no preview came to be, and the comment says so.
    """
    budget = (LARGEST - _HEAD) // max(1, len(judgements))
    lines = [MARKER, "## What this change does to the stacks", ""]
    if judgements:
        lines += [*table_head(("stack", "check", "what it is about")), *map(_overview, judgements)]
    else:
        lines.append("❌ There is no preview: the run ended before one was made.")
    for judgement in judgements:
        lines += ["", *_section(judgement, budget)]
    source = f"commit {code(commit, 12)}" if commit else "the working tree"
    run = f" [The run]({run_url})." if run_url else ""
    lines += ["", f"<sub>Preview of {source} against its base, on stand-ins for AWS.{run}</sub>"]
    return "\n".join(lines) + "\n"


def _overview(judgement: Judgement) -> str:
    problems = judgement.problems
    state = "❌&nbsp;fails" if problems else "✅&nbsp;passes"
    counts = Counter(change.action for change in _told(judgement.preview))
    changed = [f"{counts[action]} {_WORDS[action]}" for action in ACTIONS if counts[action] and action != "same"]
    about = "; ".join(problems) or ", ".join(changed) or "no change"
    return table_row((code(judgement.preview.stack), state, about))


def _told(preview: Preview) -> list[Change]:
    """What changes, without the components: what happens to one is what happens to its children."""
    return [change for change in preview.changes if change.action != "same" and not change.is_component]


def _section(judgement: Judgement, budget: int) -> list[str]:
    preview = judgement.preview
    parts = [
        _hazards(judgement, int(budget * _HAZARDS)),
        _errors(preview, int(budget * _ERRORS)),
        _capacity(preview, int(budget * _CAPACITY)),
        _findings(preview, int(budget * _FINDINGS)),
        _kinds(preview, int(budget * _KINDS)),
        _details(preview, int(budget * _DETAILS)),
    ]
    lines = [f"### Stack {code(preview.stack)}"]
    for part in parts:
        lines += ["", *part] if part else []
    return lines


# --- what ends ---


def _hazards(judgement: Judgement, budget: int) -> list[str]:
    if not judgement.hazards:
        return []
    lines = ["**Replaced, drained or restarted**", "", *table_head(("", "resource", "what that means"))]
    lines += fit(judgement.hazards, partial(_hazard_row, judgement), budget * 2 // 3, "of them")
    if judgement.unacknowledged:
        wanted = dict.fromkeys(line_for(hazard, judgement.preview.stack) for hazard in judgement.unacknowledged)
        lines += ["", "If this is meant, say so with these lines in the pull request's description:"]
        lines += ["", "```text", *fit(list(wanted), str, budget // 3, "lines"), "```"]
    return lines


def _hazard_row(judgement: Judgement, hazard: Hazard) -> str:
    sign = "🛑" if hazard in judgement.unacknowledged else "⚠️"
    reasons = [change for change in hazard.change.properties if change.replaces]
    because = f" Because of {', '.join(code(reason.text, 60) for reason in reasons[:3])}." if reasons else ""
    meant = " **Acknowledged.**" if hazard.needs_acknowledgement and hazard not in judgement.unacknowledged else ""
    meaning = f"{prose(hazard.meaning)}.{because}{meant}"
    return table_row((f"{sign}&nbsp;{_HAZARD_WORDS[hazard.what]}", code(hazard.change.label), meaning))


# --- what went wrong ---

_ERRORS_OPEN = 3


def _errors(preview: Preview, budget: int) -> list[str]:
    if preview.succeeded:
        return []
    ended = "**The preview failed.**" if preview.finished else "**The preview did not finish.**"
    first, rest = preview.errors[:_ERRORS_OPEN], preview.errors[_ERRORS_OPEN:]
    lines = [f"{ended} What is said here may be incomplete."]
    lines += ["", *fit(first, _error_row, budget // 2, "errors")] if first else []
    folded = fit(rest, _error_row, budget // 2, "errors")
    return [*lines, "", *details(f"{len(rest)} more errors", folded)] if rest else lines


def _error_row(error: str) -> str:
    return f"- {prose(_URN.sub(_LABEL, scrubbed(error)))}"


# The engine names resources by URN; people know them by kind and name.
_URN = re.compile(r"urn:pulumi:[^\s\"']*?:([A-Za-z0-9]+)::([^\s\"':]+)(?![^\s\"']*::)")
_LABEL = r"\1/\2"


# --- GPUs and cost ---


def _capacity(preview: Preview, budget: int) -> list[str]:
    found = capacity(preview)
    if not found.rows:
        return []
    lines = ["**GPUs and cost**", "", *table_head(("", "before", "after"))]
    lines += fit(found.rows, _capacity_row, budget * 2 // 3, "prices")
    notes = fit(found.notes, lambda note: f"<sub>{prose(note, 150)}</sub><br>", budget // 3, "prices")
    return [*lines, "", *notes] if notes else lines


def _capacity_row(row: Row) -> str:
    after = f"**{prose(row.after, 80)}**" if row.after != row.before else "same"
    return table_row((prose(row.what), prose(row.before, 80), after))


# --- policies ---

_VERDICTS: Mapping[Verdict, str] = {
    "violation": "❌ violates",
    "waived": "🏷️ waived",
    "undecided": "❔ not decided yet",
    "advice": "advice",
}
_FOLDED = ("undecided", "advice")


def _findings(preview: Preview, budget: int) -> list[str]:
    lines: list[str] = []
    for verdict, words in _VERDICTS.items():
        found = [finding for finding in preview.findings if finding.verdict == verdict]
        if not found:
            continue
        share = budget // 2 if verdict == "violation" else budget // 6
        folded = verdict in _FOLDED
        rows = fit(found, partial(_finding_row, "" if folded else f"{words} "), share, "findings")
        lines += ["", *(details(f"{words}: {len(found)}", rows) if folded else rows)]
    return ["**Policies**", *lines] if lines else []


def _finding_row(words: str, finding: Finding) -> str:
    return f"- {words}{code(finding.rule)}: {prose(scrubbed(finding.message))}"


# --- what changes ---


def _kinds(preview: Preview, budget: int) -> list[str]:
    told = _told(preview)
    if not told:
        return ["No resource changes."] if preview.succeeded else []
    columns = [action for action in ACTIONS if any(change.action == action for change in told)]
    counts = Counter((change.type, change.action) for change in told)
    lines = ["**Changes by kind**", "", *table_head(("kind", *(_WORDS[action] for action in columns)))]
    return lines + fit(
        sorted({change.type for change in told}),
        lambda kind: table_row((code(kind), *(str(counts[kind, action] or "") for action in columns))),
        budget,
        "kinds",
    )


def _details(preview: Preview, budget: int) -> list[str]:
    told = sorted(_told(preview), key=lambda change: ACTIONS.index(change.action))
    outputs = _output_lines(preview)
    lines = [*fit(told, _change_lines, budget - sum(map(len, outputs)), "resources"), *outputs]
    return details(f"Every change, by resource ({len(told)})", lines) if lines else []


_PROPERTIES_SHOWN = 20
_OUTPUTS_SHOWN = 10


def _change_lines(change: Change) -> str:
    lines = [f"- {_WORDS[change.action]} {code(change.label)}"]
    lines += [f"  - {_property(change, entry)}" for entry in change.properties[:_PROPERTIES_SHOWN]]
    left = len(change.properties) - _PROPERTIES_SHOWN
    return "\n".join([*lines, f"  - … and {left} more properties"] if left > 0 else lines)


def _property(change: Change, entry: PropertyChange) -> str:
    reason = " (replaces)" if entry.replaces else ""
    if any(hidden(change.type, entry.path, body) for body in (change.old, change.new)):
        return f"{code(entry.text)}{reason}: {SECRET}"
    before, after = (shown(value_at(body, entry.path)) for body in (change.old, change.new))
    return f"{code(entry.text)}{reason}: {code(before)} → {code(after)}"


def _output_lines(preview: Preview) -> list[str]:
    """The outputs that change, by name: their values are the stack's own to show."""
    if not preview.succeeded:
        return []
    old, new = preview.old_outputs, preview.new_outputs
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    listed = ", ".join(code(name, 40) for name in names[:_OUTPUTS_SHOWN])
    return [f"- outputs that change: {listed}{', …' if len(names) > _OUTPUTS_SHOWN else ''}"] if names else []
