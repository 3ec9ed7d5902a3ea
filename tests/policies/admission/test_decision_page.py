"""docs/decisions/policies-admission.md names every rule on Kubernetes objects: enforced here, or why not."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from policies.admission.registry import admission_rules
from policies.registry import rules

PAGE = Path(__file__).parents[3] / "docs" / "decisions" / "policies-admission.md"


def named(section: str) -> set[str]:
    return set(re.findall(r"[a-z0-9-]+(?:\*)?", section.replace("\\*", "*")))


def test_the_page_names_every_rule_once() -> None:
    page = PAGE.read_text(encoding="utf-8")
    here = page.partition("## Rules that are here")[2].partition("## Rules that are not")[0]
    table = page.partition("## Rules that are not")[2].partition("## What CEL")[0]
    absent = named("".join(row.split("|")[1] for row in table.splitlines() if row.startswith("|")))
    on_objects = {name for name, rule in rules().items() if any(":" not in kind for kind in rule.applies_to)}
    for name in on_objects:
        is_absent = any(fnmatch(name, pattern) for pattern in absent)
        assert (name in admission_rules()) == (name in named(here)), name
        assert name in admission_rules() or is_absent, f"{name}: say in {PAGE.name} why admission does not enforce it"
