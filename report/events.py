"""Reading the engine's event log: one JSON object a line, as ``pulumi preview --event-log FILE`` writes it
(with ``PULUMI_DEBUG_COMMANDS=true``).

Nobody vouches for a log: a fork's preview wrote it. Whatever is in it, the answer is a ``Preview`` or an InputError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.changes import STACK_TYPE, Change, gather
from report.errors import InputError
from report.findings import Finding, findings

MAXIMUM_BYTES = 256 * 1024 * 1024
"""A preview of a stack with fifty model servers writes about 20 MB, most of it debug messages."""
_HOW = "Record one with: PULUMI_DEBUG_COMMANDS=true pulumi preview --event-log FILE"
_STACK_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True)
class Preview:
    """One preview of one stack."""

    stack: str
    finished: bool
    """False where the engine was ended before it summed up."""
    succeeded: bool
    changes: tuple[Change, ...]
    """Every resource, unchanged ones too."""
    findings: tuple[Finding, ...]
    errors: tuple[str, ...]
    """What the engine and the program said went wrong."""
    old_outputs: Mapping[str, Any]
    new_outputs: Mapping[str, Any]


def read_preview(file: Path) -> Preview:
    """The preview that a log records.

    Raises:
        InputError: no such file, too large, not an event log, or not a preview's.
    """
    try:
        if file.stat().st_size > MAXIMUM_BYTES:
            raise InputError(f"{file} has more than {MAXIMUM_BYTES >> 20} MiB: no preview writes so much.")
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror}. {_HOW}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is no UTF-8 text. {_HOW}") from error
    return preview_of(list(_events(file, lines)), file)


def _events(file: Path, lines: list[str]) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines) and number > 1:
                return  # the engine was ended while it wrote: the preview has no summary and counts as unfinished
            raise InputError(f"{file}, line {number}: not an event of the engine. {_HOW}") from error
        if not isinstance(event, dict) or "sequence" not in event:
            raise InputError(f"{file}, line {number}: not an event of the engine. {_HOW}")
        yield event


def preview_of(events: list[Mapping[str, Any]], source: Path) -> Preview:
    """The preview that these events tell of. A log without a resource (the engine refused the stack's file) is named
    by its own file, ``<stack>.jsonl``.

    Raises:
        InputError: they tell of more than one stack, or of an update that was no preview.
    """
    steps = [step for body in _bodies(events, "resourcePreEvent") if isinstance(step := body.get("metadata"), dict)]
    summary = next(iter(_bodies(events, "summaryEvent")), {})
    if summary and not summary.get("isPreview"):
        raise InputError(f"{source} is the log of an update. {_HOW}")
    changes = gather(steps)
    old, new = _outputs(events)
    return Preview(
        stack=_stack(changes, source),
        finished=bool(summary),
        succeeded=summary.get("result") == "succeeded",
        changes=tuple(change for change in changes if change.type != STACK_TYPE),
        findings=findings(_bodies(events, "policyEvent")),
        errors=_errors(events),
        old_outputs=old,
        new_outputs=new,
    )


def _bodies(events: list[Mapping[str, Any]], key: str) -> list[Mapping[str, Any]]:
    return [event[key] for event in events if isinstance(event.get(key), dict)]


def _stack(changes: tuple[Change, ...], source: Path) -> str:
    # urn:pulumi:<stack>::<project>::<types>::<name>
    stacks = {change.urn.removeprefix("urn:pulumi:").partition("::")[0] for change in changes} or {source.stem}
    if len(stacks) > 1 or not _STACK_NAME.fullmatch(stack := stacks.pop()):
        raise InputError(f"{source} names more than one stack, or none by a valid name. {_HOW}")
    return stack


def _outputs(events: list[Mapping[str, Any]]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The stack's outputs before and after: the last that the engine told."""
    old: Mapping[str, Any] = {}
    new: Mapping[str, Any] = {}
    for body in _bodies(events, "resOutputsEvent"):
        metadata = body.get("metadata")
        if isinstance(metadata, dict) and metadata.get("type") == STACK_TYPE:
            old, new = (
                outputs if isinstance(outputs := (metadata.get(side) or {}).get("outputs"), dict) else {}
                for side in ("old", "new")
            )
    return old, new


def _errors(events: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Messages of severity error, without the engine's closing one."""
    told = (
        str(body.get("message", "")).strip()
        for body in _bodies(events, "diagnosticEvent")
        if body.get("severity") == "error"
    )
    return tuple(dict.fromkeys(message for message in told if message and message != "preview failed"))
