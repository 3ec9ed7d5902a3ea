"""Waivers excuse with a reason, an owner and a day to come; all others are violations, and all stay visible."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from policies.configuration import Configuration
from policies.evaluate import findings
from policies.model import Finding, ResourceSet
from policies.registry import rules
from policies.unknowns import Unknown
from policies.waivers import PREFIX, WaiverError, parse_annotation
from tests.policies.manifests import changed, resource, served

TODAY = datetime.date(2026, 11, 29)
OFF = served("m", "--no-enable-prefix-caching")
GOOD = "reason: baseline of a benchmark; owner: ml-platform; until: 2026-12-31"


def found(
    annotation: Any, rule: str = "prefix-caching-on", configuration: Configuration | None = None
) -> list[Finding]:
    body = OFF if annotation is None else changed(OFF, "metadata.annotations", {PREFIX + rule: annotation})
    said = findings(rules().values(), ResourceSet([resource(body)]), configuration or Configuration(), TODAY)
    return [item for item in said if item.rule in ("prefix-caching-on", "waiver-valid")]


def test_a_valid_waiver_turns_the_violation_into_a_visible_waived_finding() -> None:
    (item,) = found(GOOD)
    assert item.verdict == "waived"
    assert "ml-platform" in item.message
    assert "2026-12-31" in item.message
    assert "baseline of a benchmark" in item.message


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        ("reason: x; owner: y; until: 2026-11-28", "expired"),
        ("reason: x; owner: y", "until"),
        ("owner: y; until: 2026-12-31", "reason"),
        ("reason: ; owner: y; until: 2026-12-31", "reason"),
        ("reason: x; until: 2026-12-31", "owner"),
        ("reason: x; owner: y; until: soon", "date"),
        ("reason: x; owner: y; until: 2026-02-30", "does not exist"),
        ("because", "reason"),
        ("", "reason"),
        (7, "reason"),
        (None, "reason"),
    ],
)
def test_an_expired_or_unexplained_waiver_excuses_nothing_and_is_a_violation(annotation: Any, says: str) -> None:
    body = changed(OFF, "metadata.annotations", {PREFIX + "prefix-caching-on": annotation})
    said = findings(rules().values(), ResourceSet([resource(body)]), Configuration(), TODAY)
    by_rule = {item.rule: item for item in said}
    assert by_rule["prefix-caching-on"].verdict == "violation"
    assert by_rule["waiver-valid"].verdict == "violation"
    assert says in by_rule["waiver-valid"].message


def test_a_waiver_of_an_unknown_rule_is_a_violation() -> None:
    assert {item.rule for item in found(GOOD, rule="prefix-cashing-on")} == {"prefix-caching-on", "waiver-valid"}


def test_a_waiver_excuses_its_own_rule_only() -> None:
    assert {item.verdict for item in found(GOOD, rule="image-cve")} == {"violation"}


def test_a_waiver_holds_on_its_last_day() -> None:
    assert parse_annotation("x", "reason: a; owner: b; until: 2026-11-29", TODAY).until == TODAY


def test_a_reason_may_hold_semicolons_and_colons() -> None:
    text = "owner: team; reason: see RFC 7: no; really; until: 2027-01-01"
    assert parse_annotation("x", text, TODAY).reason == "see RFC 7: no; really"


def test_an_annotation_that_is_not_known_yet_excuses_nothing() -> None:
    (item,) = found(Unknown("metadata.annotations"))
    assert item.verdict == "violation"


@pytest.mark.parametrize(
    ("entry", "verdicts"),
    [
        ({"object": "Deployment/chat", "reason": "r", "owner": "o", "until": "2026-12-31"}, {"waived"}),
        ({"object": "Deployment/other", "reason": "r", "owner": "o", "until": "2026-12-31"}, {"violation"}),
        ({"object": "Deployment/chat", "reason": "r", "owner": "o", "until": "2026-01-01"}, {"violation"}),
        ({"reason": "r", "owner": "o", "until": "2026-12-31"}, {"violation"}),
        ("Deployment/chat", {"violation"}),
    ],
)
def test_waivers_of_an_environment(entry: Any, verdicts: set[str]) -> None:
    configuration = Configuration(waivers={"prefix-caching-on": [entry]})
    said = found(None, configuration=configuration)
    assert {item.verdict for item in said} == verdicts
    wrong = not isinstance(entry, dict) or "object" not in entry or entry["until"] < "2026-11"
    assert any(item.rule == "waiver-valid" for item in said) == wrong


def test_a_waiver_error_names_the_form_to_write() -> None:
    with pytest.raises(WaiverError, match="reason: …; owner: …; until: YYYY-MM-DD"):
        parse_annotation("x", "no", TODAY)
