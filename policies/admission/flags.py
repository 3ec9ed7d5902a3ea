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


def occurrence(*dests: str) -> str:
    """A regular expression for one of these flags as a word, with its value after ``=`` or in the next word.

    Also after a space in the same word, as the rules read it: ``arg-embedded-space`` says that vLLM doesn't.
    """
    found = tuple(item for dest in dests for item in spellings(dest)[0])
    return f"{SEPARATOR}(?:{_alternatives(found)})(?:[={SEPARATOR} ][^{SEPARATOR}]*|$)"


def switch(*dests: str) -> str:
    """A regular expression for one of these flags as a word."""
    found = tuple(item for dest in dests for item in spellings(dest)[0])
    return f"{SEPARATOR}(?:{_alternatives(found)})(?:[={SEPARATOR} ]|$)"


def doubt(*dests: str) -> str:
    """A regular expression for words that reach one of these flags in some versions only."""
    found = tuple(item for dest in dests for item in spellings(dest)[1])
    return f"{SEPARATOR}(?:{_alternatives(found)})(?:[={SEPARATOR} ]|$)" if found else _NOTHING


def last_switch(arguments: str, dest: str) -> str:
    """CEL: the last word of ``arguments`` that is this switch, with what it is set to if written; empty where none is."""
    # Doubled separators let one match end and the next begin at neighbouring words.
    text = f"({arguments}.replace('{SEPARATOR}', '{SEPARATOR}{SEPARATOR}') + '{SEPARATOR}')"
    word = f"{SEPARATOR}(?:{_alternatives(spellings(dest)[0])})(?:[= ][^{SEPARATOR}]*|{SEPARATOR}{{2}}(?i:true|false))?{SEPARATOR}"
    return let(
        "found", f"{text}.findAll({pattern(word)})", f"found.size() == 0 ? '' : found[found.size() - 1]"
    )


def whole_number(arguments: str, dest: str, default: int) -> str:
    """CEL for a whole-number flag of the text ``arguments``: ``default`` where it isn't given, else UNDECIDED."""
    last = "found[found.size() - 1]"
    number = f"[={SEPARATOR} ][0-9]{{1,6}}$"
    decided = let(
        "found",
        f"{arguments}.findAll({pattern(occurrence(dest))})",
        f"found.size() == 0 ? {default} : "
        f"({last}.matches({pattern(number)}) ? int({last}.find(r'[0-9]+$')) : {UNDECIDED})",
    )
    if not spellings(dest)[1]:
        return decided
    return f"({arguments}.matches({pattern(doubt(dest))}) ? {UNDECIDED} : {decided})"
