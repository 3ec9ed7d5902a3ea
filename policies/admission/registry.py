"""Finds the admission rules: each module of ``policies/admission/rules`` defines one ``RULE``."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from policies.admission.model import AdmissionRule

_FOLDER = Path(__file__).parent / "rules"


@cache
def admission_rules() -> dict[str, AdmissionRule]:
    """All admission rules by name, in the order of their names."""
    found = {}
    for path in sorted(_FOLDER.glob("[!_]*.py")):
        admission_rule: AdmissionRule = importlib.import_module(f"policies.admission.rules.{path.stem}").RULE
        found[admission_rule.rule.name] = admission_rule
    return found
