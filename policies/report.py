"""Findings as text: a table for people, JSON, SARIF 2.1.0 for code scanning, and GitHub workflow annotations."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from policies.model import Finding

_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_SARIF_LEVELS = {"violation": "error", "advice": "warning", "waived": "note"}
_GITHUB_LEVELS = {"violation": "error", "advice": "warning", "waived": "notice"}
_WIDTH = 110


def shown_verdict(finding: Finding) -> str:
    """The three verdicts that reports know: what is not decided yet is shown as advice, and its message says so."""
    return "advice" if finding.verdict == "undecided" else finding.verdict


def as_json(findings: Sequence[Finding]) -> str:
    """A list of ``{rule, verdict, severity, object, message, file, line}``."""
    rows = [
        {
            "rule": finding.rule,
            "verdict": shown_verdict(finding),
            "severity": finding.severity,
            "object": finding.object,
            "message": finding.message,
            "file": finding.file,
            "line": finding.line,
        }
        for finding in findings
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def as_table(findings: Sequence[Finding]) -> str:
    """One block a finding: verdict, rule, object and place, then the message and the fix."""
    if not findings:
        return "No findings."
    lines = []
    for finding in findings:
        place = f"{finding.file}:{finding.line}" if finding.file else "configuration"
        lines.append(f"{shown_verdict(finding).upper():<10}{finding.rule:<30}{finding.object}  ({place})")
        lines += textwrap.wrap(finding.message, _WIDTH, initial_indent=" " * 10, subsequent_indent=" " * 10)
        lines += textwrap.wrap(finding.fix, _WIDTH, initial_indent=" " * 10 + "Fix: ", subsequent_indent=" " * 15)
    count = Counter(map(shown_verdict, findings))
    lines += ["", f"{count['violation']} violation(s), {count['advice']} advice, {count['waived']} waived."]
    return "\n".join(lines)


def as_sarif(findings: Sequence[Finding]) -> str:
    """One SARIF run. A waived finding is a suppressed result, so that it stays visible."""
    fixes = {finding.rule: finding.fix for finding in findings}
    rules = sorted(fixes)
    log = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "gpu-inference-policies",
                        "rules": [
                            {"id": rule, "shortDescription": {"text": rule}, "help": {"text": fixes[rule]}}
                            for rule in rules
                        ],
                    }
                },
                "results": [_sarif_result(finding, rules.index(finding.rule)) for finding in findings],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False)


def _sarif_result(finding: Finding, rule_index: int) -> dict[str, Any]:
    verdict = shown_verdict(finding)
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _SARIF_LEVELS[verdict],
        "message": {"text": f"{finding.object}: {finding.message}"},
    }
    if finding.file:
        location = {
            "artifactLocation": {"uri": finding.file.replace("\\", "/")},
            "region": {"startLine": max(finding.line, 1)},
        }
        result["locations"] = [{"physicalLocation": location}]
    if verdict == "waived":
        result["suppressions"] = [{"kind": "inSource", "status": "accepted"}]
    return result


def _escaped(value: str, *, in_property: bool = False) -> str:
    """GitHub's escapes: the message ends at a newline, a property also at a comma or a colon."""
    value = value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return value.replace(":", "%3A").replace(",", "%2C") if in_property else value


def as_github(findings: Sequence[Finding]) -> str:
    """One workflow command a finding: GitHub shows it at the line in the PR."""
    lines = []
    for finding in findings:
        properties = {"title": f"{finding.rule} ({finding.object})"}
        if finding.file:
            properties = {"file": finding.file, "line": str(max(finding.line, 1)), **properties}
        stated = ",".join(f"{key}={_escaped(value, in_property=True)}" for key, value in properties.items())
        level = _GITHUB_LEVELS[shown_verdict(finding)]
        lines.append(f"::{level} {stated}::{_escaped(f'{finding.message} Fix: {finding.fix}')}")
    return "\n".join(lines)


FORMATS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "table": as_table,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
