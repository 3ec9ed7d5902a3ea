"""Levels, parameters and waivers of an environment: ``policies/config/<environment>.json``.

The file has the form that ``pulumi preview --policy-pack-config`` reads, so one file serves the pack and the check:

    {"all": "mandatory",
     "shm-size": {"enforcementLevel": "advisory", "floor_gib": 8},
     "image-cve": {"waivers": [{"object": "Deployment/chat", "reason": "…", "owner": "…", "until": "2027-01-31"}]}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from policies.model import Rule

Level = Literal["mandatory", "advisory", "disabled"]
WAIVERS_KEY = "waivers"
_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
}


class ConfigurationError(Exception):
    """The environment's file is wrong; the text says where and what is allowed."""


@dataclass(frozen=True)
class Configuration:
    """What an environment says about rules; empty where it says nothing."""

    levels: Mapping[str, Level] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    waivers: Mapping[str, list[Any]] = field(default_factory=dict)
    all_level: Level | None = None

    def level(self, rule: Rule) -> Level:
        """The level of a rule: its own entry, else ``all``, else the rule's severity."""
        return self.levels.get(rule.name) or self.all_level or rule.severity

    def parameters_of(self, rule: Rule) -> dict[str, Any]:
        """The rule's parameters: its defaults, overridden by this environment."""
        return rule.defaults() | dict(self.parameters.get(rule.name, {}))


def _level(value: Any, where: str) -> Level:
    for level in get_args(Level):
        if value == level:
            return level  # type: ignore[no-any-return]  # get_args gives Any
    raise ConfigurationError(f"{where}: {value!r} is no level: write one of {', '.join(get_args(Level))}")


def _is_of_kind(value: Any, kind: str) -> bool:
    return isinstance(value, _JSON_TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def parse_configuration(data: Any, rules: Mapping[str, Rule], source: str) -> Configuration:
    """The configuration that ``data`` (parsed JSON) states.

    Raises:
        ConfigurationError: an unknown rule, level or parameter, or a parameter of a wrong type.
    """
    if not isinstance(data, dict):
        raise ConfigurationError(f"{source}: expected an object with rule names as keys")
    levels: dict[str, Level] = {}
    parameters: dict[str, dict[str, Any]] = {}
    waivers: dict[str, list[Any]] = {}
    all_level: Level | None = None
    for name, entry in data.items():
        where = f"{source}: {name}"
        if name == "all":
            all_level = _level(entry, where)
            continue
        rule = rules.get(name)
        if rule is None:
            raise ConfigurationError(f"{where}: no such rule; `python -m policies.check --list-rules` lists them")
        if isinstance(entry, str):
            levels[name] = _level(entry, where)
            continue
        if not isinstance(entry, dict):
            raise ConfigurationError(f"{where}: expected a level or an object")
        for key, value in entry.items():
            if key == "enforcementLevel":
                levels[name] = _level(value, f"{where}.{key}")
            elif key == WAIVERS_KEY:
                if not isinstance(value, list):
                    raise ConfigurationError(f"{where}.{key}: expected a list of waivers")
                waivers[name] = value
            elif key not in rule.parameters:
                allowed = ", ".join(["enforcementLevel", WAIVERS_KEY, *rule.parameters])
                raise ConfigurationError(f"{where}.{key}: unknown key; allowed: {allowed}")
            elif not _is_of_kind(value, rule.parameters[key].kind):
                raise ConfigurationError(f"{where}.{key}: expected {rule.parameters[key].kind}, got {value!r}")
            else:
                parameters.setdefault(name, {})[key] = value
    return Configuration(levels, parameters, waivers, all_level)


def load_configuration(path: Path, rules: Mapping[str, Rule]) -> Configuration:
    """The configuration in a file.

    Raises:
        ConfigurationError: the file can't be read, is no JSON, or states something wrong.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    return parse_configuration(data, rules, str(path))
