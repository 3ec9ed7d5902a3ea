"""The comment: one for all stacks of a pull request, the gravest first, the long parts folded and cut to size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from report.acknowledgements import line_for
from report.capacity import capacity
from report.changes import ACTIONS, Action, Change, PropertyChange
from report.events import Preview
from report.findings import Finding, Verdict
from report.hazards import Hazard
from report.judgement import Judgement
from report.markdown import code, details, fit, prose, table
from report.property_paths import value_at
from report.redaction import SECRET, hidden, scrubbed, shown

MARKER: Final = "<!-- gpu-inference:pr-report -->"
"""The first line: by it the comment is found again and written anew."""
LARGEST: Final = 65_000
"""Characters. GitHub refuses more than 65,536."""
_HEAD = 3_000
"""Characters kept for what stands outside the stacks' sections."""
# Shares of a stack's part of the comment; what one leaves over is not handed on.
_HAZARDS, _FINDINGS, _KINDS, _DETAILS = 0.3, 0.25, 0.1, 0.3
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
        lines += table(("stack", "check", "what it is about"), map(_overview, judgements))
    else:
        lines.append("❌ There is no preview: the run ended before one was made.")
    for judgement in judgements:
        lines += ["", *_section(judgement, budget)]
    source = f"commit {code(commit, 12)}" if commit else "the working tree"
    run = f" [The run]({run_url})." if run_url else ""
    lines += ["", f"<sub>Preview of {source} against its base, on stand-ins for AWS.{run}</sub>"]
    return "\n".join(lines) + "\n"


def _overview(judgement: Judgement) -> tuple[str, str, str]:
    problems = judgement.problems
    state = "❌ fails" if problems else "✅ passes"
    counts = Counter(change.action for change in _told(judgement.preview))
    changed = [f"{counts[action]} {_WORDS[action]}" for action in ACTIONS if counts[action] and action != "same"]
    return code(judgement.preview.stack), state, "; ".join(problems) or ", ".join(changed) or "no change"


def _told(preview: Preview) -> list[Change]:
    """What changes, without the components: what happens to one is what happens to its children."""
    return [change for change in preview.changes if change.action != "same" and not change.is_component]


def _section(judgement: Judgement, budget: int) -> list[str]:
    preview = judgement.preview
    parts = [
        _errors(preview, int(budget * _FINDINGS / 2)),
        _hazards(judgement, int(budget * _HAZARDS)),
        _capacity(preview),
        _findings(preview, int(budget * _FINDINGS)),
        _kinds(preview, int(budget * _KINDS)),
        _details(preview, int(budget * _DETAILS)),
    ]
    lines = [f"### Stack {code(preview.stack)}"]
    for part in parts:
        lines += ["", *part] if part else []
    return lines


def _errors(preview: Preview, budget: int) -> list[str]:
    if preview.succeeded:
        return []
    ended = "**The preview failed.**" if preview.finished else "**The preview did not finish.**"
    lines = [f"- {prose(scrubbed(error))}" for error in preview.errors]
    return [f"{ended} What is below may be incomplete.", "", *fit(lines, budget, "errors")]


# --- what ends ---


def _hazards(judgement: Judgement, budget: int) -> list[str]:
    if not judgement.hazards:
        return []
    rows = table(("", "resource", "what that means"), map(_hazard_row, judgement.hazards))
    lines = ["**Replaced, drained or restarted**", "", *fit(rows, budget * 2 // 3, "of them")]
    if judgement.unacknowledged:
        wanted = [line_for(hazard, judgement.preview.stack) for hazard in judgement.unacknowledged]
        lines += ["", "If this is meant, say so with these lines in the pull request's description:"]
        lines += ["", "```text", *fit(list(dict.fromkeys(wanted)), budget // 3, "lines"), "```"]
    return lines


def _hazard_row(hazard: Hazard) -> tuple[str, str, str]:
    sign = "🛑" if hazard.needs_acknowledgement else "⚠️"
    reasons = [change for change in hazard.change.properties if change.replaces]
    because = f" Because of {', '.join(code(reason.text, 60) for reason in reasons[:3])}." if reasons else ""
    return f"{sign} {_HAZARD_WORDS[hazard.what]}", code(hazard.change.label), f"{prose(hazard.meaning)}.{because}"


# --- GPUs and cost ---


def _capacity(preview: Preview) -> list[str]:
    found = capacity(preview)
    if not found.rows:
        return []
    rows = [
        (prose(row.what), prose(row.before, 80), f"**{prose(row.after, 80)}**" if row.after != row.before else "same")
        for row in found.rows
    ]
    lines = ["**GPUs and cost**", "", *table(("", "before", "after"), rows)]
    if found.notes:
        lines += ["", f"<sub>{'; '.join(prose(note, 150) for note in found.notes[:10])}.</sub>"]
    return lines


# --- policies ---

_VERDICTS: Mapping[Verdict, str] = {
    "violation": "❌ violates",
    "waived": "🏷️ waived",
    "undecided": "❔ not decided yet",
    "advice": "advice",
}


def _findings(preview: Preview, budget: int) -> list[str]:
    lines: list[str] = []
    for verdict, words in _VERDICTS.items():
        rows = [_finding_row(finding, words) for finding in preview.findings if finding.verdict == verdict]
        if not rows:
            continue
        rows = fit(rows, budget // 2 if verdict == "violation" else budget // 6, "findings")
        folded = verdict in ("advice", "undecided")
        lines += ["", *details(f"{words}: {_counted(preview.findings, verdict)}", rows)] if folded else rows
    return ["**Policies**", "", *lines] if lines else []


def _counted(found: Sequence[Finding], verdict: Verdict) -> int:
    return sum(finding.verdict == verdict for finding in found)


def _finding_row(finding: Finding, words: str) -> str:
    return f"- {words} {code(finding.rule)}: {prose(scrubbed(finding.message))}"


# --- what changes ---


def _kinds(preview: Preview, budget: int) -> list[str]:
    told = _told(preview)
    if not told:
        return ["No resource changes."] if preview.succeeded else []
    columns = [action for action in ACTIONS if any(change.action == action for change in told)]
    counts = Counter((change.type, change.action) for change in told)
    rows = [
        (code(kind), *(str(counts[kind, action] or "") for action in columns))
        for kind in sorted({change.type for change in told})
    ]
    lines = table(("kind", *(_WORDS[action] for action in columns)), rows)
    return ["**Changes by kind**", "", *fit(lines, budget, "kinds")]


def _details(preview: Preview, budget: int) -> list[str]:
    told = sorted(_told(preview), key=lambda change: ACTIONS.index(change.action))
    lines = [line for change in told for line in _change_lines(change)] + _output_lines(preview)
    if not lines:
        return []
    return details(f"Every change, by resource ({len(told)})", fit(lines, budget, "lines"))


_PROPERTIES_SHOWN = 20


def _change_lines(change: Change) -> list[str]:
    lines = [f"- {_WORDS[change.action]} {code(change.label)}"]
    lines += [f"  - {_property(change, entry)}" for entry in change.properties[:_PROPERTIES_SHOWN]]
    left = len(change.properties) - _PROPERTIES_SHOWN
    return [*lines, f"  - … and {left} more properties"] if left > 0 else lines


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
    return [f"- outputs that change: {', '.join(code(name) for name in names)}"] if names else []
