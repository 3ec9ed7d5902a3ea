"""The Kubernetes objects around the expressions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from policies.admission.objects import NAMESPACE_LABEL, bodies, policy_body
from policies.admission.registry import admission_rules
from policies.configuration import Configuration, parse_configuration
from policies.registry import rules

NAMESPACE = "only-administrators"


def configured(data: dict[str, Any]) -> Configuration:
    return parse_configuration(data, rules(), "test.json")


def pairs(configuration: Configuration) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    found = bodies(admission_rules().values(), configuration, NAMESPACE)
    return {policy["metadata"]["name"].partition(".")[0]: (policy, binding) for policy, binding in found}


def test_each_rule_is_one_of_the_pack_and_judges_some_kind() -> None:
    for name, (policy, _) in pairs(Configuration()).items():
        assert admission_rules()[name].rule is rules()[name]
        assert policy["spec"]["matchConstraints"]["resourceRules"]


def test_no_subresource_is_judged_so_that_scaling_and_status_go_on() -> None:
    for policy, _ in pairs(Configuration()).values():
        for row in policy["spec"]["matchConstraints"]["resourceRules"]:
            assert not any("/" in resource or "*" in resource for resource in row["resources"])


def test_levels_are_the_packs_own() -> None:
    found = pairs(configured({"shm-size": "advisory", "image-pinned": "disabled"}))
    assert found["shm-size"][1]["spec"]["validationActions"] == ["Warn"]
    assert found["lws-restart-policy"][1]["spec"]["validationActions"] == ["Deny"]
    assert "image-pinned" not in found


def test_parameters_are_the_packs_own() -> None:
    policy = policy_body(
        admission_rules()["liveness-tolerance"], configured({"liveness-tolerance": {"timeout_seconds": 7}})
    )
    assert "< 7 " in policy["spec"]["variables"][-1]["expression"]


def test_the_door_stays_shut_without_the_list_of_exceptions() -> None:
    for policy, binding in pairs(Configuration()).values():
        assert policy["spec"]["failurePolicy"] == "Fail"
        assert binding["spec"]["paramRef"]["parameterNotFoundAction"] == "Deny"
        assert binding["spec"]["paramRef"]["namespace"] == NAMESPACE
        assert binding["spec"]["matchResources"]["namespaceSelector"] == {"matchLabels": dict([NAMESPACE_LABEL])}


def test_a_variable_stands_before_what_reads_it() -> None:
    for name, (policy, _) in pairs(Configuration()).items():
        seen: set[str] = set()
        for variable in policy["spec"]["variables"]:
            assert set(re.findall(r"variables\.(\w+)", variable["expression"])) <= seen, (name, variable["name"])
            seen.add(variable["name"])
        assert "faults" in seen


@pytest.mark.parametrize("annotation", ["waive", "annotations"])
def test_nothing_on_the_object_itself_excuses_it(annotation: str) -> None:
    for policy, _ in pairs(Configuration()).values():
        expressions = [row["expression"] for key in ("matchConditions", "variables") for row in policy["spec"][key]]
        assert not any(annotation in text for text in expressions)
