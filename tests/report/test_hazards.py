"""What ends, drains or restarts what: steps made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from report.hazards import Hazard, hazards
from tests.report.event_logs import GROUP, P5, TEMPLATE, preview, step

DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def found(*steps: dict[str, Any]) -> list[Hazard]:
    return list(hazards(preview(list(steps)).changes))


def sizes(desired: float, largest: float = 4.0) -> dict[str, Any]:
    return {**P5, "scalingConfig": {"minSize": 0.0, "desiredSize": desired, "maxSize": largest}}


def test_a_deleted_gpu_group_needs_an_acknowledgement() -> None:
    (hazard,) = found(step("delete", GROUP, "p5", old=P5))
    assert (hazard.what, hazard.needs_acknowledgement) == ("delete", True)


def test_a_renamed_gpu_group_is_a_deletion() -> None:
    steps = step("delete", GROUP, "p5", old=P5), step("create", GROUP, "p5-2", new=P5)
    assert [(hazard.what, hazard.change.name) for hazard in found(*steps)] == [("delete", "p5")]


def test_a_new_group_is_no_hazard() -> None:
    assert found(step("create", GROUP, "p5", new=P5)) == []


def test_more_nodes_are_no_hazard() -> None:
    assert found(step("update", GROUP, "p5", P5, sizes(3.0), diff={"scalingConfig.desiredSize": "update"})) == []


def test_a_lower_maximum_above_what_runs_is_no_drain() -> None:
    assert found(step("update", GROUP, "p5", P5, sizes(2.0, 3.0), diff={"scalingConfig.maxSize": "update"})) == []


def test_a_maximum_below_what_runs_is_a_drain() -> None:
    (hazard,) = found(step("update", GROUP, "p5", P5, sizes(2.0, 1.0), diff={"scalingConfig.maxSize": "update"}))
    assert hazard.what == "drain"
    assert "the most nodes falls from 2 to 1" in hazard.meaning


@pytest.mark.parametrize("path", ["launchTemplate.version", "launchTemplate", "version", "releaseVersion"])
def test_what_rolls_the_nodes_is_a_drain(path: str) -> None:
    (hazard,) = found(step("update", GROUP, "p5", P5, P5, diff={path: "update"}))
    assert hazard.what == "drain"
    assert hazard.needs_acknowledgement


@pytest.mark.parametrize("path", ["labels.team", "tags", "updateConfig.maxUnavailable", "forceUpdateVersion"])
def test_what_changes_in_place_is_none(path: str) -> None:
    assert found(step("update", GROUP, "p5", P5, P5, diff={path: "update"})) == []


def test_an_evicting_taint_is_a_drain_and_others_are_not() -> None:
    def tainted(effect: str) -> dict[str, Any]:
        return {**P5, "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": effect}]}

    def change(effect: str) -> list[Hazard]:
        return found(step("update", GROUP, "p5", P5, tainted(effect), diff={"taints": "add"}))

    assert [hazard.what for hazard in change("NO_EXECUTE")] == ["drain"]
    assert change("NO_SCHEDULE") == []


def test_an_unknown_instance_type_is_taken_for_gpus() -> None:
    (hazard,) = found(step("delete", GROUP, "mystery", old={"scalingConfig": {"desiredSize": 2.0}}))
    assert hazard.needs_acknowledgement
    assert "taken for a GPU's" in hazard.meaning


@pytest.mark.parametrize(
    ("name", "gpus"),
    [
        ("p5.48xlarge", True),
        ("m7i.xlarge", False),
        ("p9x-new.96xlarge", True),
        ("g7.2xlarge", True),
        ("c9.large", False),
    ],
)
def test_types_that_the_catalog_lacks_are_told_by_their_family(name: str, gpus: bool) -> None:
    (hazard,) = found(step("delete", GROUP, "group", old={"instanceTypes": [name]}))
    assert hazard.needs_acknowledgement is gpus


@pytest.mark.parametrize(
    "reference", [{"id": "lt-1", "version": "3"}, {"name": "gpu-nodes"}, {"id": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}]
)
def test_the_instance_type_may_stand_in_the_launch_template(reference: dict[str, str]) -> None:
    template = {"name": "gpu-nodes", "instanceType": "m7i.xlarge"}
    group = {"launchTemplate": reference, "scalingConfig": {"desiredSize": 2.0}}
    (hazard,) = found(
        step("same", TEMPLATE, "nodes", template, template, id="lt-1"), step("delete", GROUP, "nodes", old=group)
    )
    assert not hazard.needs_acknowledgement
    assert "m7i.xlarge" in hazard.meaning


def test_a_template_of_plain_nodes_is_not_named() -> None:
    old, new = {"instanceType": "m7i.large"}, {"instanceType": "m7i.xlarge"}
    assert found(step("update", TEMPLATE, "system", old, new, diff={"instanceType": "update"})) == []


def test_a_group_that_turns_from_gpus_to_none_still_gives_them_up() -> None:
    steps = [
        step(op, GROUP, "p5", P5, {"instanceTypes": ["m7i.xlarge"]}, diff={"instanceTypes": "update-replace"})
        for op in ("create-replacement", "replace", "delete-replaced")
    ]
    (hazard,) = found(*steps)
    assert (hazard.what, hazard.needs_acknowledgement) == ("replace", True)


def test_the_order_of_a_replacement_is_told() -> None:
    def replaced(*operations: str) -> str:
        (hazard,) = found(*(step(operation, GROUP, "p5", P5, P5) for operation in operations))
        return hazard.meaning

    assert "as many free GPUs again" in replaced("create-replacement", "replace", "delete-replaced")
    assert "the old group goes first" in replaced("delete-replaced", "replace", "create-replacement")


def test_a_component_that_is_the_cluster_counts_as_one() -> None:
    cluster = step("delete", "eks:index:Cluster", "main", old={})
    cluster["old"].pop("custom")
    (hazard,) = found(cluster)
    assert hazard.needs_acknowledgement


def test_a_deployment_that_recreates_its_pods_ends_them_at_once() -> None:
    new = {"spec": {"strategy": {"type": "Recreate"}, "template": {}}}
    (hazard,) = found(step("update", DEPLOYMENT, "chat", {}, new, diff={"spec.template.metadata.labels": "add"}))
    assert "before the new ones start" in hazard.meaning


def test_a_change_beside_the_pods_restarts_none() -> None:
    assert found(step("update", DEPLOYMENT, "chat", {}, {}, diff={"metadata.labels.team": "add"})) == []


def test_a_diff_without_details_is_found_by_comparing() -> None:
    steps = step("update", DEPLOYMENT, "chat", {"spec": {"template": 1}}, {"spec": {"template": 2}})
    assert [hazard.what for hazard in found(steps)] == ["restart"]
