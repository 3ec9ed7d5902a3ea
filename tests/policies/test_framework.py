"""Unknown values, rules and their files, resources and references."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from policies.label_selectors import selects
from policies.model import ResourceSet
from policies.registry import rules
from policies.unknowns import NotDecidedError, Unknown, at, mapping, mappings, number, sequence, text, whole
from policies.workloads.quantities import gib, quantity
from policies.workloads.scaling import rounded
from tests.policies.manifests import pulumi, resource, workload

POLICIES = Path(__file__).parents[2] / "policies"


@pytest.mark.parametrize(
    "ask",
    [
        bool,
        str,
        list,
        len,
        hash,
        text,
        number,
        whole,
        mapping,
        sequence,
        lambda value: value == 1,
        lambda value: value in (1, 2),
    ],
)
def test_an_unknown_value_answers_nothing(ask: Any) -> None:
    with pytest.raises(NotDecidedError, match=r"spec\.replicas is not known yet"):
        ask(Unknown("spec.replicas"))


def test_reading_through_wrong_shapes_gives_nothing() -> None:
    body = {"a": [{"b": 1}], 3: "x"}
    assert at(body, "a", 0, "b") == 1
    assert at(body, "a", "b") is None
    assert at(body, "a", 7) is None
    assert at(None, "a") is None
    assert mapping(body) == {"a": [{"b": 1}]}
    assert mappings(["x", {"y": 1}, None]) == [{"y": 1}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("16Gi", 16.0),
        ("17179869184", 16.0),
        (17179869184, 16.0),
        ("16384Mi", 16.0),
        ("1e9", 1e9 / 2**30),
        ("16 GB", None),
    ],
)
def test_gib(value: Any, expected: float | None) -> None:
    assert gib(value) == (pytest.approx(expected) if expected else None)


def test_quantities_of_cpu_and_devices() -> None:
    assert quantity("500m") == 0.5
    assert quantity(8) == 8
    assert quantity({}) is None


@pytest.mark.parametrize(
    ("value", "total", "up", "expected"),
    [("25%", 1, True, 1), ("25%", 1, False, 0), (2, 4, True, 2), ("x%", 4, True, None), (None, 4, True, None)],
)
def test_int_or_percent(value: Any, total: int, up: bool, expected: int | None) -> None:
    assert rounded(value, total, up=up) == expected


def test_label_selectors() -> None:
    labels = {"app": "chat", "tier": 1}
    assert selects({}, labels)
    assert selects({"matchLabels": {"app": "chat", "tier": "1"}}, labels)
    assert not selects({"matchLabels": {"app": "other"}}, labels)
    for operator, values, expected in (("NotIn", ["chat"], False), ("Exists", [], True), ("DoesNotExist", [], False)):
        row = {"key": "app", "operator": operator, "values": values}
        assert selects({"matchExpressions": [row]}, labels) is expected


def test_every_rule_says_what_and_why_and_how_to_fix_it() -> None:
    for name, rule in rules().items():
        assert rule.name == name
        assert rule.title
        assert rule.source
        assert rule.fix.endswith(".")
        assert rule.applies_to


def test_a_rule_file_is_named_like_its_rule() -> None:
    for path in (POLICIES / "rules").glob("[!_]*.py"):
        assert importlib.import_module(f"policies.rules.{path.stem}").RULE.name == path.stem.replace("_", "-")


def test_a_rule_that_looks_at_other_resources_says_so() -> None:
    for name in rules():
        source = (POLICIES / "rules" / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
        (check,) = [
            node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "check"
        ]
        uses = any(isinstance(node, ast.Name) and node.id == "resources" for node in ast.walk(check))
        assert (rules()[name].scope == "set") == uses, name


def test_no_module_of_the_pack_hides_one_of_the_standard_library() -> None:
    names = {path.stem for path in POLICIES.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert names & set(sys.stdlib_module_names) <= {"__init__", "__main__"}


def test_resources_are_named_like_kubectl_and_pulumi_name_them() -> None:
    assert resource(workload()).group_kind == "Deployment.apps"
    assert pulumi("kubernetes:core/v1:Service", "svc").group_kind == "Service"
    assert pulumi("kubernetes:keda.sh/v1alpha1:ScaledObject", "s").label == "ScaledObject/s"
    assert pulumi("kubernetes:helm.sh/v3:Release", "efa").label == "kubernetes:helm.sh/v3:Release/efa"
    assert pulumi("aws:eks/nodeGroup:NodeGroup", "p5").label == "aws:eks/nodeGroup:NodeGroup/p5"


def test_a_patch_of_somebody_elses_object_is_not_judged_as_a_whole_one() -> None:
    patch = pulumi("kubernetes:apps/v1:DeploymentPatch", "x", kind="Deployment", spec={"replicas": 2})
    assert patch.group_kind == "kubernetes:apps/v1:DeploymentPatch"


def test_references_are_found_by_name_and_id() -> None:
    template = pulumi("aws:ec2/launchTemplate:LaunchTemplate", "p5")
    resources = ResourceSet([template])
    assert resources.referenced("aws:ec2/launchTemplate:LaunchTemplate", "p5") is template
    assert resources.referenced("aws:ec2/launchTemplate:LaunchTemplate", "lt-1") is None
    with pytest.raises(NotDecidedError):
        resources.referenced("aws:ec2/launchTemplate:LaunchTemplate", Unknown("launchTemplate.id"))
