"""What nodeadm would read from user data."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.cloud.errors import AwsError
from sandbox.cloud.user_data import NodeConfig, evaluate_maximum_pods, node_config
from tests.sandbox.cloud.imaginary import NODE_CONFIG, encoded

P5 = {"default_enis": 2, "ips_per_eni": 50, "max_pods": 100}
EXPRESSION = "((default_enis - 1) * (ips_per_eni - 1)) + 2"


def test_no_user_data_means_the_defaults() -> None:
    assert node_config(None) == node_config("") == NodeConfig()


def test_raid0_and_the_pod_limit_are_found_in_a_mime_part() -> None:
    assert node_config(encoded(NODE_CONFIG)) == NodeConfig(raid0=True, maximum_pods_expression=EXPRESSION)


def test_a_bare_node_config_counts_and_a_shell_script_does_not() -> None:
    bare = base64.b64encode(b"kind: NodeConfig\nspec: {kubelet: {config: {maxPods: 20}}}").decode()
    assert node_config(bare) == NodeConfig(maximum_pods=20)
    assert node_config(base64.b64encode(b"#!/bin/sh\necho hello\n").decode()) == NodeConfig()


def test_later_parts_win_and_leave_the_rest() -> None:
    second = "kind: NodeConfig\nspec: {instance: {localStorage: {strategy: Mount}}}"
    both = encoded(f"{NODE_CONFIG}\n--//\nContent-Type: application/node.eks.aws\n\n{second}")
    assert node_config(both) == NodeConfig(raid0=False, maximum_pods_expression=EXPRESSION)


@pytest.mark.parametrize("text", ["not base64!", "///"])
def test_what_is_no_base64(text: str) -> None:
    with pytest.raises(AwsError, match="Invalid BASE64 encoding of user data"):
        node_config(text)


def test_broken_yaml_keeps_nodes_from_starting() -> None:
    with pytest.raises(AwsError, match="nodeadm can't read the NodeConfig"):
        node_config(encoded("kind: NodeConfig\nspec: ["))


def test_the_pod_limit_of_p5() -> None:
    assert evaluate_maximum_pods(EXPRESSION, P5) == 51


@given(st.integers(0, 100), st.integers(1, 100), st.integers(1, 100))
def test_arithmetic_is_as_everywhere(first: int, second: int, third: int) -> None:
    assert evaluate_maximum_pods(f"{first} + {second} * {third} - 1", {}) == first + second * third - 1


@pytest.mark.parametrize("expression", ["enis * 2", "__import__('os')", "2 ** 9", "1 / 0", "1 +", "'a'"])
def test_anything_else_is_refused(expression: str) -> None:
    with pytest.raises(AwsError, match="nodeadm can't evaluate maxPodsExpression"):
        evaluate_maximum_pods(expression, P5)
