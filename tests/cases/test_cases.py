"""Every case of a real failure, and of a good configuration that looks odd, gives the verdict that it states."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.configuration import Configuration
from policies.evaluate import findings
from policies.loading import load
from policies.model import Finding, ResourceSet
from policies.registry import rules

DATA = Path(__file__).parent / "data"
TODAY = datetime.date(2026, 11, 29)
CASES = sorted(path.parent.name for path in DATA.glob("*/case.yaml"))


@cache
def case(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DATA / name / "case.yaml").read_text(encoding="utf-8"))
    return loaded


@cache
def found(name: str) -> tuple[Finding, ...]:
    (path,) = (DATA / name).glob("input.*")
    resources = ResourceSet(load([str(path)]), case(name).get("context"))
    return tuple(findings(rules().values(), resources, Configuration(), TODAY))


EXPECTED = [(name, row["rule"], row["object"], row["verdict"]) for name in CASES for row in case(name)["expected"]]


@pytest.mark.parametrize(("name", "rule", "label", "verdict"), EXPECTED)
def test_verdict(name: str, rule: str, label: str, verdict: str) -> None:
    assert rule in rules(), f"no rule {rule}"
    violations = [
        item for item in found(name) if item.rule == rule and item.object == label and item.verdict == "violation"
    ]
    assert bool(violations) == (verdict == "violation"), [item.message for item in violations]
    assert all(item.line > 0 for item in violations)


@pytest.mark.parametrize("name", [name for name in CASES if case(name).get("clean")])
def test_no_false_alarm(name: str) -> None:
    alarms = [(item.rule, item.object, item.message) for item in found(name) if item.verdict == "violation"]
    assert alarms == []


def test_fully_clean_case_has_no_finding_at_all() -> None:
    assert found("144-ok-fully-clean-single-gpu") == ()


def test_every_rule_of_a_case_names_its_object_once_a_place() -> None:
    for name in CASES:
        seen = [(item.rule, item.object, item.line, item.message) for item in found(name)]
        assert len(seen) == len(set(seen)), name
