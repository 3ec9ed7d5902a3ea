"""How a fact file becomes frozen typed models, and how an unknown name is answered.

A fact file is YAML under ``catalog/data``. Rows are validated once, on first use, and shared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

DATA_FOLDER = Path(__file__).parent / "data"
# libyaml's loader where the wheel has it: the policy check promises half a second of start-up.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# An error about an unknown name lists at most so many known ones.
_LISTED_NAMES = 40


class Fact(BaseModel):
    """One row of a fact table: immutable, and a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class UnknownFactError(LookupError):
    """A name that the catalog does not have; the message says which kind, what is close, and what to do."""


@cache
def load_yaml(file_name: str) -> Any:
    """The parsed content of ``catalog/data/<file_name>`` (lists and dicts; treat it as read-only)."""
    return yaml.load((DATA_FOLDER / file_name).read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - a safe loader


def unknown(kind: str, name: str, known: Iterable[str], hint: str = "") -> UnknownFactError:
    """The error for ``name``, with close matches of the same ``kind`` first."""
    names = sorted(known)
    folded = {candidate.lower(): candidate for candidate in names}
    close = [folded[match] for match in difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=0.5)]
    listed = ", ".join(names[:_LISTED_NAMES]) + (
        f" and {len(names) - _LISTED_NAMES} more" if len(names) > _LISTED_NAMES else ""
    )
    suggestion = f"did you mean {', '.join(close)}?" if close else f"known: {listed}."
    return UnknownFactError(f"unknown {kind} {name!r}: {suggestion}{' ' + hint if hint else ''}")
