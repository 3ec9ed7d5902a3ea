"""What policies said in a preview, from the engine's policy events.

Our pack's messages start with the verdict where it is not a violation (policies/pack.py); other packs' are taken by
their enforcement level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["violation", "waived", "undecided", "advice"]
_SPOKEN: tuple[Verdict, ...] = ("waived", "undecided", "advice")


@dataclass(frozen=True)
class Finding:
    """One verdict; ``message`` names the object and the fix, ``title`` is the rule in words."""

    rule: str
    verdict: Verdict
    title: str
    message: str


def findings(events: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Each finding once, in the engine's order: while a program runs, a resource can be judged more than once."""
    return tuple(dict.fromkeys(_finding(event) for event in events))


def _finding(event: Mapping[str, Any]) -> Finding:
    title, _, message = str(event.get("message", "")).strip().partition("\n")
    verdict: Verdict = "violation" if event.get("enforcementLevel") == "mandatory" else "advice"
    for spoken in _SPOKEN:
        if message.startswith(f"{spoken}: "):
            verdict, message = spoken, message.removeprefix(f"{spoken}: ")
    return Finding(str(event.get("policyName", "")), verdict, title, message or title)
