"""The flags of ``vllm serve`` a version, from its real parser, and whether an argument would be accepted.

The tables stand in ``data/vllm_flags`` (its README says what they lack). Forms that the tables do not list but
the parser takes are known here: underscores for hyphens, unique prefixes, dotted JSON forms, hidden ``--no-…``.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from packaging.version import Version

from catalog.facts import DATA_FOLDER, load_yaml
from catalog.vllm_versions import VllmVersion, vllm_version

_FOLDER = DATA_FOLDER / "vllm_flags"
# Actions of vLLM 0.6.3's argparse that take no value; later tables say nargs 0.
_SWITCHES = {"store_true", "store_false"}


class FlagError(ValueError):
    """Why a version's parser would refuse an argument."""


@dataclass(frozen=True)
class Flag:
    """One option of the parser."""

    spellings: tuple[str, ...]
    dest: str
    takes_value: bool
    """False for switches: ``--x=true`` is then refused by argparse with exit code 2."""
    nargs: str | int | None
    type: str | None
    choices: tuple[Any, ...] | None
    default: Any


def _flag(row: dict[str, Any]) -> Flag:
    takes_value = row["nargs"] != 0 and row["cls"] not in _SWITCHES
    choices = tuple(row["choices"]) if row["choices"] else None
    return Flag(tuple(row["flags"]), row["dest"], takes_value, row["nargs"], row["type"], choices, row["default"])


@cache
def flag_table_versions() -> tuple[str, ...]:
    """The versions that have a table of their own."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json") if path.stem != "availability"))


@cache
def flag_table(version: VllmVersion) -> dict[str, Flag] | None:
    """Every listed spelling of ``version`` and its flag, or None where the catalog has no table for it."""
    path = _FOLDER / f"{version}.json"
    if not path.is_file():
        return None
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {spelling: flag for flag in map(_flag, rows) for spelling in flag.spellings}


@cache
def nearest_flag_table_version(version: VllmVersion) -> VllmVersion:
    """The version itself if it has a table, else the one with a table that is the fewest minor releases away."""
    tables = sorted((vllm_version(text) for text in flag_table_versions()), key=lambda row: row.release)
    return min(tables, key=lambda row: (row != version, abs(row.release.minor - version.release.minor)))


def find_flag(version: VllmVersion, spelling: str) -> Flag:
    """The flag that ``spelling`` (``--max_model_len``, ``-tp``, ``--max-model-l``) reaches in this version's parser.

    Raises:
        FlagError: the parser of ``version`` does not know it, or a prefix fits several flags.
        KeyError: the catalog has no table for ``version``.
    """
    table = flag_table(version)
    if table is None:
        raise KeyError(f"no flag table for vLLM {version}; there are tables for {', '.join(flag_table_versions())}")
    name = spelling.split(".", 1)[0]  # --json-flag.key value
    name = name.replace("_", "-") if name.startswith("--") else name
    if name in table:
        return table[name]
    # From 0.33.0 the parser lists --enable-x/--disable-x and still takes --no-enable-x; before, it lists what it takes.
    hidden = re.sub(r"^--no-", "--", name)
    if version.hides_no_prefix and hidden != name and hidden in table and not table[hidden].takes_value:
        return table[hidden]
    matches = {id(table[known]): table[known] for known in table if name.startswith("--") and known.startswith(name)}
    if len(matches) == 1:
        return next(iter(matches.values()))
    if matches:
        close = ", ".join(sorted(flag.spellings[0] for flag in matches.values()))
        raise FlagError(f"{spelling} is ambiguous in vLLM {version}: it could be {close}")
    close_names = difflib.get_close_matches(name, list(table), n=2, cutoff=0.75)
    suggestion = f"; did you mean {' or '.join(close_names)}?" if close_names else ""
    raise FlagError(f"vLLM {version} has no flag {spelling}{suggestion}")


@dataclass(frozen=True)
class Availability:
    """In which of the parsed versions a spelling is listed."""

    first_seen: Version
    last_seen: Version


@cache
def parsed_versions() -> tuple[Version, ...]:
    """The versions whose list of spellings is known, oldest first; fewer of them have a table of their own."""
    return tuple(Version(text) for text in load_yaml("vllm_flags/availability.json")["versions"])


@cache
def availability() -> dict[str, Availability]:
    """Every spelling that a parsed version lists, with the first and the last that does."""
    data = load_yaml("vllm_flags/availability.json")
    last = data["last_seen"]
    return {name: Availability(Version(text), Version(last[name])) for name, text in data["first_seen"].items()}


def is_gone_or_not_yet(version: VllmVersion, spelling: str) -> bool:
    """Whether a version without a table surely lacks a long spelling that other versions list.

    Sure means: it is newer than a parsed version that no longer lists it, or older than one that doesn't list it yet.
    A spelling that no parsed version lists, or a unique prefix, gives False: nobody can tell.
    """
    name = _listed_form(spelling)
    seen = availability().get(name)
    release = version.release
    if seen is None:
        before = any(name in (flag_table(vllm_version(text)) or {}) for text in flag_table_versions())
        return before and release >= parsed_versions()[0] and not is_ever_listed(spelling)
    gone = any(seen.last_seen < parsed <= release for parsed in parsed_versions())
    not_yet = any(release <= parsed < seen.first_seen for parsed in parsed_versions())
    return gone or not_yet


def is_ever_listed(spelling: str) -> bool:
    """Whether some parsed version lists a long spelling, or one that it is a prefix of."""
    name = _listed_form(spelling)
    return any(known.startswith(name) for known in availability())


def _listed_form(spelling: str) -> str:
    return spelling.split(".", 1)[0].replace("_", "-")


def check_argument(version: VllmVersion, argument: str) -> Flag:
    """The flag of one argument as a manifest writes it (``--flag`` or ``--flag=value``), if the parser takes that form.

    A value that stands in the next argument is not judged here.

    Raises:
        FlagError: unknown or ambiguous flag, a value given to a switch, or a value outside the listed choices.
        KeyError: the catalog has no table for ``version``.
    """
    spelling, equals, value = argument.partition("=")
    flag = find_flag(version, spelling)
    if equals and not flag.takes_value:
        raise FlagError(f"{spelling} takes no value in vLLM {version}: write {spelling} alone, not {argument}")
    if equals and flag.choices and value not in {str(choice) for choice in flag.choices}:
        raise FlagError(
            f"{spelling}={value} is not allowed in vLLM {version}: one of {', '.join(map(str, flag.choices))}"
        )
    return flag
