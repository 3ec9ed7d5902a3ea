"""What a change of inputs leads to."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox.cloud.differences import deletes_before_replacing, differences
from sandbox.cloud.resource_types import resource_type
from sandbox.cloud.values import UNKNOWN

GROUP = resource_type("aws:eks/nodeGroup:NodeGroup")
scalars = st.one_of(st.text(max_size=3), st.integers(), st.booleans())
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=2)
)
inputs = st.dictionaries(st.sampled_from(["subnetIds", "labels", "taints", "amiType"]), values)


@given(inputs)
def test_the_same_is_no_difference(same: dict[str, Any]) -> None:
    assert differences(GROUP, same, same) == []


@given(inputs, inputs)
def test_different_is_a_difference_either_way(old: dict[str, Any], new: dict[str, Any]) -> None:
    there = {found.path for found in differences(GROUP, old, new)}
    assert there == {found.path for found in differences(GROUP, new, old)}


def paths(old: dict[str, Any], new: dict[str, Any]) -> dict[str, bool]:
    return {found.path: found.replaces for found in differences(GROUP, old, new)}


def test_a_nested_change_is_named_and_judged_by_its_own_path() -> None:
    old = {"launchTemplate": {"id": "lt-1", "version": "1"}, "scalingConfig": {"desiredSize": 1}}
    assert paths(old, {**old, "launchTemplate": {"id": "lt-1", "version": "2"}}) == {"launchTemplate.version": False}
    assert paths(old, {**old, "launchTemplate": {"id": "lt-2", "version": "1"}}) == {"launchTemplate.id": True}
    assert paths(old, {**old, "scalingConfig": {"desiredSize": 2}}) == {"scalingConfig.desiredSize": False}


def test_a_value_that_is_not_known_yet_counts_as_changed() -> None:
    assert paths({"clusterName": "a"}, {"clusterName": UNKNOWN}) == {"clusterName": True}


def test_the_order_of_ids_means_nothing_that_of_objects_does() -> None:
    assert paths({"subnetIds": ["a", "b"]}, {"subnetIds": ["b", "a"]}) == {}
    taints = [{"key": "a"}, {"key": "b"}]
    assert paths({"taints": taints}, {"taints": taints[::-1]}) == {"taints[0].key": False, "taints[1].key": False}


def test_added_and_deleted_are_told_apart() -> None:
    [added] = differences(GROUP, {}, {"amiType": "x"})
    [deleted] = differences(GROUP, {"amiType": "x"}, {})
    assert (added.added, added.deleted, deleted.added, deleted.deleted) == (True, False, False, True)


def test_a_given_name_means_delete_first() -> None:
    assert deletes_before_replacing(GROUP, {"nodeGroupName": "p5"}, {"nodeGroupName": "p5"})
    assert not deletes_before_replacing(GROUP, {"nodeGroupName": "p5"}, {"nodeGroupName": "p5b"})
    assert not deletes_before_replacing(GROUP, {"nodeGroupNamePrefix": "p5-"}, {"nodeGroupNamePrefix": "p5-"})
