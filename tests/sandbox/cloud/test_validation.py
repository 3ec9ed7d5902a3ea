"""Inputs against the SDK's types, AWS's resource schemas and the API's models."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.cloud.cloudformation import mapped_paths
from sandbox.cloud.validation import mistakes_of
from sandbox.cloud.values import UNKNOWN
from tests.sandbox.cloud.imaginary import GROUP, TEMPLATE, Imaginary


@pytest.fixture
def template(imaginary: Imaginary) -> dict[str, Any]:
    return imaginary.template()


@pytest.fixture
def group(imaginary: Imaginary) -> dict[str, Any]:
    return imaginary.group(imaginary.make(TEMPLATE, **imaginary.template()))


def said(token: str, inputs: dict[str, Any]) -> str:
    return "\n".join(f"{mistake.path}: {mistake.message}" for mistake in mistakes_of(token, inputs))


def test_right_inputs_are_right_and_nearly_all_of_them_is_checked(
    template: dict[str, Any], group: dict[str, Any]
) -> None:
    assert said(TEMPLATE, template) == ""
    assert said(GROUP, group) == ""
    assert mapped_paths(TEMPLATE, template)[1] == []
    assert mapped_paths(GROUP, group)[1] == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"instanceTyp": "p5.48xlarge"}, "instanceTyp: unknown property 'instanceTyp'; the SDK has: "),
        ({"networkInterfaces": {"deviceIndex": 0}}, "networkInterfaces: must be a list"),
        ({"networkInterfaces": [{"deviceIndex": "0"}]}, 'deviceIndex: must be a whole number, and is "0"'),
        ({"networkInterfaces": [{"deviceIndex": True}]}, "networkInterfaces[0].deviceIndex: must be a whole number"),
        ({"metadataOptions": {"httpTokens": "always"}}, "'always' is not known to AWS; allowed: optional, required"),
        ({"instanceMarketOptions": {"marketType": "block"}}, "marketType: 'block' is not known to AWS"),
    ],
)  # fmt: skip
def test_a_wrong_template(template: dict[str, Any], change: dict[str, Any], sentence: str) -> None:
    assert sentence in said(TEMPLATE, {**template, **change})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"nodeRoleArn": None}, "nodeRoleArn: is missing and required"),
        ({"capacityType": "BLOCK"}, "capacityType: 'BLOCK' is not known to AWS; allowed: CAPACITY_BLOCK"),
        ({"taints": [{"key": "a", "effect": "NoSchedule"}]}, "taints[0].effect: 'NoSchedule' is not known to AWS"),
        ({"updateConfig": {"updateStrategy": "ONE_BY_ONE"}}, "updateConfig.updateStrategy: 'ONE_BY_ONE' is not known"),
        ({"scalingConfig": {"minSize": -1, "desiredSize": 0, "maxSize": 1}}, "minSize: -1 is less than 0"),
        ({"amiType": "AL2023_NVIDIA"}, "amiType: 'AL2023_NVIDIA' is not known to AWS"),
    ],
)  # fmt: skip
def test_a_wrong_group(group: dict[str, Any], change: dict[str, Any], sentence: str) -> None:
    assert sentence in said(GROUP, {**group, **change})


def test_what_is_not_known_yet_is_no_mistake(template: dict[str, Any], group: dict[str, Any]) -> None:
    unknown_groups = [{**entry, "securityGroups": [UNKNOWN]} for entry in template["networkInterfaces"]]
    assert said(TEMPLATE, {**template, "networkInterfaces": unknown_groups, "userData": UNKNOWN}) == ""
    assert said(GROUP, {**group, "subnetIds": [UNKNOWN], "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN}}) == ""


def test_the_sdk_speaks_first(group: dict[str, Any]) -> None:
    text = said(GROUP, {**group, "capacityTypo": "X", "capacityType": "BLOCK"})
    assert "capacityTypo" in text
    assert "BLOCK" not in text
