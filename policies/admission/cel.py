"""Pieces of CEL text. Only what Kubernetes 1.30 has (the first with stable admission policies) is used.

A command line is judged as one text, each word between two ``SEPARATOR`` characters of its own, so that regular
expressions can tell where words begin and end, and one match can end where the next begins. CEL of that version can't
walk a list by index.
"""

from __future__ import annotations

import json
import re

SEPARATOR = r"\x1f"
"""The unit separator, which no argument holds, as both a CEL string and a regular expression write it."""


def string(value: str) -> str:
    """A CEL string literal."""
    return json.dumps(value)


def strings(values: tuple[str, ...] | list[str]) -> str:
    """A CEL list of strings."""
    return f"[{', '.join(map(string, values))}]"


def pattern(expression: str) -> str:
    """A CEL literal of a regular expression (RE2)."""
    return f"r'{expression}'"


def let(name: str, value: str, body: str) -> str:
    """``body`` with ``name`` bound to ``value``: CEL has no binding of its own there."""
    return f"[{value}].map({name}, {body})[0]"


def one_line(text: str) -> str:
    """CEL that was written over several lines, in one: so it reads well in ``kubectl get -o yaml``."""
    return re.sub(r"\s*\n\s*", " ", text.strip())
