"""Finds the rules: each module of ``policies/rules`` defines one ``RULE``, named like the file with hyphens."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from policies.model import Rule

_FOLDER = Path(__file__).parent / "rules"


@cache
def rules() -> dict[str, Rule]:
    """All rules by name, in the order of their names."""
    found = {}
    for path in sorted(_FOLDER.glob("[!_]*.py")):
        rule: Rule = importlib.import_module(f"policies.rules.{path.stem}").RULE
        found[rule.name] = rule
    return found
