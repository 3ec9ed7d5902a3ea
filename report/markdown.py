"""Markdown that holds text which nobody vouches for.

A fork's author chooses every name and message in a preview. None of it may become a link, a mention, an image, HTML or
a cell of its own in a comment that GitHub shows under the project's name. Whatever Markdown, HTML or GitHub could read
as more than text is written as a character reference. Mentions and issue numbers are found in the finished page, where
references are characters again: there a zero-width space breaks them. In ``<code>`` GitHub looks for neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
NAME_LENGTH = 120
"""Characters of a name or a value that are shown; Kubernetes names have 63 and paths in objects rarely more."""
MESSAGE_LENGTH = 600
"""Characters of a message that are shown; the pack's longest have about 400."""
# All but these, and underscores inside a word, which GitHub's Markdown leaves alone.
_NOT_PLAIN = re.compile(r"(?!(?<=[A-Za-z0-9])_[A-Za-z0-9])[^A-Za-z0-9 .,;/:()+%=?'\"×→–…-]")
_AUTOLINK = re.compile(r"://|(?<=www)\.", re.IGNORECASE)


def one_line(text: str, length: int) -> str:
    """``text`` without line breaks, control and direction characters, cut to ``length``."""
    shown = "".join(" " if character.isspace() else character for character in text[: 4 * length])
    shown = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c)[0] == "C" else c for c in shown)
    shown = re.sub(" +", " ", shown).strip()
    return shown if len(shown) <= length else f"{shown[: length - 1]}…"


def _references(text: str) -> str:
    escaped = _NOT_PLAIN.sub(lambda match: f"&#{ord(match[0])};", text)
    return _AUTOLINK.sub(lambda match: "&#58;//" if match[0] == "://" else "&#46;", escaped)


def code(text: str, length: int = NAME_LENGTH) -> str:
    """A name or a value, as code."""
    return f"<code>{_references(one_line(text, length))}</code>"


def prose(text: str, length: int = MESSAGE_LENGTH) -> str:
    """A message, as plain text."""
    # &#64; is @, &#35; is #, &#8203; the zero-width space.
    escaped = _references(one_line(text, length))
    return escaped.replace("&#64;", "&#64;&#8203;").replace("&#35;", "&#35;&#8203;")


def table_row(cells: Sequence[str]) -> str:
    """A row of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def table_head(cells: Sequence[str]) -> list[str]:
    """The lines that a table begins with."""
    return [table_row(cells), table_row(["---"] * len(cells))]


def details(summary: str, lines: Sequence[str]) -> list[str]:
    """Lines that a reader folds out. ``summary`` is HTML already."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def fit(items: Sequence[T], row: Callable[[T], str], budget: int, what: str) -> list[str]:
    """The rows of as many ``items`` as ``budget`` characters hold, and a line that counts the rest (``what``)."""
    shown: list[str] = []
    for item in items:
        line = row(item)
        budget -= len(line) + 1
        if budget < 0:
            return [*shown, "", f"… and {len(items) - len(shown)} more {what}: see the job's log."]
        shown.append(line)
    return shown
