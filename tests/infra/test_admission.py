"""The stack's ``admission`` section: what is refused, and which exceptions hold today."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from infra.admission import levels, plan_admission
from infra.checks import check
from infra.settings import SettingsError, StackSettings, parse_settings
from policies.configuration import Configuration
from tests.stack_files import stack_config

EXCEPTION = {
    "rule": "shm-size",
    "object": "Deployment/chat",
    "reason": "moves to 16Gi with the next release",
    "owner": "ml-team",
    "until": "2027-01-31",
}


def settings_with(**admission: Any) -> StackSettings:
    config = stack_config() | {"gpu-inference:admission": {"enabled": True} | admission}
    return parse_settings({key: json.dumps(value) for key, value in config.items()}, [], "sandbox")


@pytest.mark.parametrize(("today", "holds"), [("2027-01-30", True), ("2027-01-31", True), ("2027-02-01", False)])
def test_an_exception_holds_up_to_and_including_its_last_day(today: str, holds: bool) -> None:
    settings = settings_with(exceptions=[EXCEPTION])
    plan = plan_admission(settings, Configuration(), datetime.date.fromisoformat(today))
    assert ("shm-size.ai-inference.Deployment.chat" in plan.exceptions["data"]) == holds
    assert len(plan.expired) == (not holds)


def test_an_exception_may_name_another_namespace() -> None:
    settings = settings_with(exceptions=[EXCEPTION | {"namespace": "team-b"}])
    plan = plan_admission(settings, Configuration(), datetime.date(2027, 1, 1))
    assert list(plan.exceptions["data"]) == ["shm-size.team-b.Deployment.chat"]


def test_a_date_may_stand_without_quotes() -> None:
    """YAML makes a time of it, and the engine hands it on in Go's form."""
    settings = settings_with(exceptions=[EXCEPTION | {"until": "2027-01-31 00:00:00 +0000 UTC"}])
    assert settings.admission.exceptions[0].until == datetime.date(2027, 1, 31)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"until": "soon"}, "exceptions[0].until"),
        ({"until": "2027-02-30"}, "exceptions[0].until"),
        ({"until": 20270131}, "exceptions[0].until"),
        ({"object": "chat"}, "exceptions[0].object"),
        ({"reason": "  "}, "exceptions[0].reason"),
        ({"owner": None}, "exceptions[0].owner"),
    ],
)
def test_an_unexplained_exception_stops_the_run(change: dict[str, Any], where: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_with(exceptions=[EXCEPTION | change])
    assert f"gpu-inference:admission.{where}" in str(caught.value)


def test_a_rule_that_admission_does_not_have_is_named_with_those_that_it_has() -> None:
    (problem,) = check(settings_with(exceptions=[EXCEPTION | {"rule": "pvc-access-mode"}]))
    assert problem.path == "admission.exceptions[0].rule"
    assert "'pvc-access-mode' is no rule that admission enforces" in problem.message
    assert "shm-size" in problem.message


def test_exceptions_are_not_kept_where_authors_write() -> None:
    (problem,) = check(settings_with(exceptions_namespace="ai-inference"))
    assert problem.path == "admission.exceptions_namespace"


def test_levels_are_those_of_the_environments_own_file() -> None:
    assert levels("prod").parameters["image-cve"]
    assert levels("no-such-environment") == Configuration()
