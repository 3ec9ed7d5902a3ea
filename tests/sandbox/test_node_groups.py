"""The declared list: what is accepted, and that a mistake is named with its line and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.errors import InputError
from sandbox.node_groups import read_node_groups, region, zone_name

GOOD = "    - {name: p5, instance_type: p5.48xlarge, count: 2, zones: [use1-az1]}"


def test_reads_groups_with_labels_and_taints(stack_file: Callable[[str], Path]) -> None:
    text = (
        GOOD
        + "\n    - {name: tools, instance_type: m7i.large, count: 0, zones: [use1-az2], labels: {a: b}, "
        + ("taints: [{key: only, value: tools, effect: NoExecute}]}")
    )
    p5, tools = read_node_groups(stack_file(text))
    assert (p5.name, p5.count, p5.instance.gpus) == ("p5", 2, 8)
    assert tools.labels == {"a": "b"}
    assert tools.taints[0].effect == "NoExecute"


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("{name: p5, instance_type: p5.48xlarge, count: -1, zones: [use1-az1]}", ["[1].count", "-1", "greater"]),
        ("{name: p5, instance_type: p5.48xlarge, count: two, zones: [use1-az1]}", ["[1].count", "'two'", "integer"]),
        ("{name: p5, instance_type: p5.49xlarge, count: 1, zones: [use1-az1]}", ["[1].instance_type", "p5.48xlarge"]),
        ("{name: P5!, instance_type: p5.48xlarge, count: 1, zones: [use1-az1]}", ["[1].name", "P5!"]),
        ("{name: p5, instance_type: p5.48xlarge, count: 1, zones: []}", ["[1].zones", "at least 1"]),
        ("{name: p5, instance_type: p5.48xlarge, count: 1, zones: [us-east-1a]}", ["[1].zones[0]", "use1-az1"]),
        ("{name: p5, instance_type: p5.48xlarge, count: 1}", ["[1].zones", "is missing"]),
        ("{name: p5, instance_type: p5.48xlarge, count: 1, zone: a, zones: [use1-az1]}", ["[1].zone:", "unknown key"]),
        (
            "{name: p5, instance_type: p5.48xlarge, count: 1, zones: [use1-az1], taints: [{key: a, effect: Never}]}",
            ["[1].taints[0].effect", "NoSchedule"],
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_line(
    stack_file: Callable[[str], Path], group: str, expected: list[str]
) -> None:
    first = GOOD.replace("name: p5", "name: first")
    path = stack_file(f"{first}\n    - {group}")
    with pytest.raises(InputError) as caught:
        read_node_groups(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:4: gpu-inference:node_groups")
    for part in expected:
        assert part in message


def test_all_mistakes_come_at_once(stack_file: Callable[[str], Path]) -> None:
    with pytest.raises(InputError) as caught:
        read_node_groups(stack_file("    - {name: p5, instance_type: x, count: -1, zones: [use1-az1]}"))
    assert len(str(caught.value).splitlines()) == 2


def test_two_groups_of_one_name(stack_file: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match="two groups are called p5"):
        read_node_groups(stack_file(f"{GOOD}\n{GOOD}"))


def test_zones_of_two_regions(stack_file: Callable[[str], Path]) -> None:
    other = "    - {name: far, instance_type: m7i.large, count: 1, zones: [usw2-az1]}"
    with pytest.raises(InputError, match="us-east-1, us-west-2"):
        read_node_groups(stack_file(f"{GOOD}\n{other}"))


@pytest.mark.parametrize("text", ["config: {}", "", "[]", "config: [1]", "config:\n  a: [", "config: null"])
def test_a_file_without_the_list(tmp_path: Path, text: str) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=str(path)):
        read_node_groups(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"does not exist.*--nodes FILE"):
        read_node_groups(tmp_path / "nothing.yaml")


def test_zone_ids_name_region_and_letter() -> None:
    assert region("apne1-az4") == "ap-northeast-1"
    assert zone_name("use1-az2") == "us-east-1b"
