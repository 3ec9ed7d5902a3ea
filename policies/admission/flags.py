"""How CEL reads vLLM's command line: the spellings of a flag, and its value as far as the text shows it.

The spellings come from the parser that the Python rules use, over every version that the catalog has a flag table of.
A prefix that reaches the flag in some versions only leaves the question open. A whole spelling doesn't: the versions
that lack it refuse it (rule vllm-flag-valid).
"""

from __future__ import annotations

import re
from functools import cache

from catalog.vllm_flags import flag_table, flag_table_versions
from catalog.vllm_versions import vllm_version
from policies.admission.cel import SEPARATOR, let, pattern
from policies.workloads.servers import parse_arguments

UNDECIDED = -1
"""What an expression for a whole number gives where the text doesn't show it."""

_NOTHING = r"^\b$"
"""A regular expression that matches no text."""

_SHORTEST_PREFIX = len("--x")


def _reaches(dest: str, version: str, spelling: str, *, is_whole: bool) -> bool:
    argument = parse_arguments((spelling,), vllm_version(version))[0][0]
    return argument.dest == dest or (is_whole and not argument.is_listed)


@cache
def spellings(dest: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The spellings that mean ``dest`` in every version, and those that do in some; hyphens stand for underscores."""
    listed = {
        spelling
        for version in flag_table_versions()
        for spelling, flag in (flag_table(vllm_version(version)) or {}).items()
        if flag.dest == dest
    }
    candidates = set(listed)
    for spelling in listed:
        if spelling.startswith("--"):
            candidates |= {spelling[:end] for end in range(_SHORTEST_PREFIX, len(spelling))}
    sure, open_ = [], []
    for spelling in sorted(candidates):
        is_whole = spelling in listed
        reached = [_reaches(dest, version, spelling, is_whole=is_whole) for version in flag_table_versions()]
        if all(reached):
            sure.append(spelling)
        elif any(reached):
            open_.append(spelling)
    return tuple(sure), tuple(open_)


def _alternatives(found: tuple[str, ...]) -> str:
    # The parser takes underscores for hyphens in long spellings.
    return "|".join(
        re.escape(item).replace(r"\-", "-") if not item.startswith("--") else "--" + item[2:].replace("-", "[-_]")
        for item in found
    )


def _spelled(found: tuple[str, ...]) -> str:
    return f"{SEPARATOR}(?:{_alternatives(found)})" if found else _NOTHING


def switch(*dests: str) -> str:
    """A regular expression for one of these flags, up to the end of its spelling."""
    return _spelled(tuple(item for dest in dests for item in spellings(dest)[0])) + f"[= {SEPARATOR}]"


def doubt(*dests: str) -> str:
    """The same for words that reach one of these flags in some versions only."""
    return _spelled(tuple(item for dest in dests for item in spellings(dest)[1])) + f"[= {SEPARATOR}]"


def occurrences(arguments: str, *dests: str) -> str:
    """CEL: the places of ``arguments`` with one of these flags and, where there is one, its value.

    The value stands after ``=`` or in the next word; also after a space in the same word, as the rules read it
    (``arg-embedded-space`` says that vLLM doesn't).
    """
    spelled = _spelled(tuple(item for dest in dests for item in spellings(dest)[0]))
    no_option = f"(?:[^-{SEPARATOR}][^{SEPARATOR}]*|-|-[0-9]+(?:\\.[0-9]+)?)"
    value = f"(?:[= ][^{SEPARATOR}]*{SEPARATOR}|{SEPARATOR}(?:{SEPARATOR}{no_option}{SEPARATOR})?)"
    return f"{arguments}.findAll({pattern(spelled + value)})"


def last_occurrence(arguments: str, dest: str) -> str:
    """CEL: the last of the ``occurrences``; an empty string where there is none."""
    return let("found", occurrences(arguments, dest), "found.size() == 0 ? '' : found[found.size() - 1]")


def whole_number(arguments: str, dest: str, default: int) -> str:
    """CEL for a whole-number flag of the text ``arguments``: ``default`` where it isn't given, else UNDECIDED."""
    number = f"[= {SEPARATOR}][0-9]{{1,6}}{SEPARATOR}$"
    decided = let(
        "last",
        last_occurrence(arguments, dest),
        f"last == '' ? {default} : "
        f"last.matches({pattern(number)}) ? int(last.find({pattern(f'[0-9]+{SEPARATOR}$')}).replace('{SEPARATOR}', ''))"
        f" : {UNDECIDED}",
    )
    if not spellings(dest)[1]:
        return decided
    return f"({arguments}.matches({pattern(doubt(dest))}) ? {UNDECIDED} : {decided})"
