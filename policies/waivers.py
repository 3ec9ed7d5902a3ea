"""Waivers: who excuses which object from which rule, why, and until when.

Two places: the annotation ``policies.gpu-inference/waive-<rule>: "reason: …; owner: …; until: YYYY-MM-DD"`` on the
object, or an entry under the rule's ``waivers`` in the environment's file. A waiver without a reason, an owner or a
valid date excuses nothing and is a violation of ``waiver-valid`` itself, and so is one whose day has passed. The
engine's own exceptions don't serve: docs/decisions/policies-waivers.md.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policies.model import Resource
from policies.unknowns import known

PREFIX = "policies.gpu-inference/waive-"
_FIELDS = ("reason", "owner", "until")
_FORM = 'write "reason: …; owner: …; until: YYYY-MM-DD"'


@dataclass(frozen=True)
class Waiver:
    """A complete waiver. It holds up to and including the day ``until``."""

    rule: str
    reason: str
    owner: str
    until: datetime.date


class WaiverError(Exception):
    """Why a waiver excuses nothing."""


def _waiver(rule: str, fields: Mapping[str, str], today: datetime.date) -> Waiver:
    missing = [name for name in _FIELDS if not fields.get(name)]
    if missing:
        raise WaiverError(f"the waiver of {rule} has no {' and no '.join(missing)}: {_FORM}")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", fields["until"]):
        raise WaiverError(f"the waiver of {rule} has an end that is no date: write until: YYYY-MM-DD")
    try:
        until = datetime.date.fromisoformat(fields["until"])
    except ValueError:
        raise WaiverError(f"the waiver of {rule} ends on a day that does not exist: {fields['until']}") from None
    if until < today:
        raise WaiverError(f"the waiver of {rule} expired on {until}: fix the object, or argue a new date")
    return Waiver(rule, fields["reason"], fields["owner"], until)


def parse_annotation(rule: str, value: Any, today: datetime.date) -> Waiver:
    """The waiver that an annotation's value states.

    Raises:
        WaiverError: incomplete, malformed or expired.
        NotDecidedError: not known yet.
    """
    value = known(value)
    # A reason may hold a semicolon: only one before a field's name separates.
    parts = re.split(
        r"(?:^|;)\s*(reason|owner|until)\s*:", value if isinstance(value, str) else "", flags=re.IGNORECASE
    )
    names, contents = parts[1::2], parts[2::2]
    fields = {name.lower(): content.strip() for name, content in zip(names, contents, strict=True)}
    return _waiver(rule, fields, today)


def parse_entry(rule: str, entry: Any, today: datetime.date) -> Waiver:
    """The waiver that an entry ``{object, reason, owner, until}`` of an environment's file states.

    Raises:
        WaiverError: incomplete, malformed or expired.
    """
    fields = {key: value for key, value in entry.items() if isinstance(value, str)} if isinstance(entry, dict) else {}
    if not fields.get("object"):
        raise WaiverError(f'a waiver of {rule} names no object: write "object": "Deployment/chat"')
    return _waiver(rule, fields, today)


def annotated_rules(resource: Resource) -> dict[str, Any]:
    """The rules that a resource's annotations want to waive, with the annotations' values."""
    return {key.removeprefix(PREFIX): value for key, value in resource.annotations.items() if key.startswith(PREFIX)}
