"""Wrong values in a stack file: each is one sentence with its place, and nothing is ever a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.checks import check
from infra.node_capacity import maximum_replicas
from infra.settings import SettingsError, parse_settings
from tests.stack_files import flat, settings, stack_config

Change = Callable[[dict[str, Any]], Any]


def problems(config: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        found = check(parse_settings(flat(config), [], "sandbox"))
    except SettingsError as error:
        found = list(error.problems)
    return [(problem.path, problem.message) for problem in found]


def server_problems(change: Change) -> list[tuple[str, str]]:
    config = stack_config()
    change(config["gpu-inference:model_servers"][0])
    return problems(config)


def test_the_sandbox_stack_is_right() -> None:
    assert check(settings()) == []


@pytest.mark.parametrize(
    ("change", "path", "sentence"),
    [
        (lambda s: s.update(tensor_paralel_size=4), "model_servers[0].tensor_paralel_size", "unknown key"),
        (lambda s: s.pop("model"), "model_servers[0].model", "is missing"),
        (lambda s: s.update(tensor_parallel_size="4"), "model_servers[0].tensor_parallel_size", "(it is '4')"),
        (lambda s: s.update(tensor_parallel_size=0), "model_servers[0].tensor_parallel_size", "greater than or equal"),
        (lambda s: s.update(tensor_parallel_size=3), "model_servers[0].tensor_parallel_size", "allowed: 1, 2, 4, 8"),
        (lambda s: s.update(node_group="p6"), "model_servers[0].node_group", "there are: p5"),
        (lambda s: s.update(model="meta-llama/Llama-3.1-70B-Instuct"), "model_servers[0].model", "did you mean"),
        (lambda s: s.update(vllm_version="newest"), "model_servers[0].vllm_version", "no vLLM version"),
        (lambda s: s.update(max_model_len=200_000), "model_servers[0].max_model_len", "131072"),
        (lambda s: s.update(kv_cache_dtype="fp9"), "model_servers[0].kv_cache_dtype", "allowed: auto"),
        (lambda s: s.update(name="vllm"), "model_servers[0].name", "VLLM_PORT"),
        (lambda s: s.update(name="Llama 70B"), "model_servers[0].name", "pattern"),
        (lambda s: s.update(replicas=2), "model_servers[0].replicas", "owns the number"),
        (lambda s: s["autoscaler"].update(max_replicas=10), "model_servers[0].autoscaler.max_replicas", "can hold 4"),
        (lambda s: s["autoscaler"].update(max_replicas=1), "model_servers[0].autoscaler.max_replicas", "min_replicas"),
        (lambda s: s["autoscaler"].update(min_replicas=5), "model_servers[0].autoscaler.min_replicas", "can hold 4"),
        (lambda s: s["autoscaler"].update(min_replicas=0), "model_servers[0].autoscaler.min_replicas", "greater than"),
        (
            lambda s: s["autoscaler"].update(kv_cache_usage=85),
            "model_servers[0].autoscaler.kv_cache_usage",
            "less than 1",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_place(change: Change, path: str, sentence: str) -> None:
    found = server_problems(change)
    assert [place for place, _ in found] == [path]
    assert sentence in found[0][1]


def test_more_gpus_than_a_node_has() -> None:
    config = stack_config()
    config["gpu-inference:node_groups"][0]["instance_type"] = "p5.4xlarge"
    assert problems(config)[0] == (
        "model_servers[0].tensor_parallel_size",
        "4 GPUs for one replica, but a p5.4xlarge has 1; allowed: up to 1. "
        "Tensor parallelism stays inside one node's NVLink domain",
    )


def test_gpus_without_nvlink() -> None:
    config = stack_config()
    config["gpu-inference:node_groups"][0]["instance_type"] = "g6e.12xlarge"
    assert "over PCIe, without NVLink; allowed: 1" in problems(config)[0][1]


def test_an_unknown_section_and_an_unknown_instance_type_and_two_equal_names() -> None:
    config = stack_config()
    config["gpu-inference:model_server"] = []
    assert problems(config) == [("model_server", "unknown key; remove it or correct its spelling")]
    config = stack_config()
    config["gpu-inference:node_groups"][0]["instance_type"] = "p5.48xlage"
    assert "did you mean p5.48xlarge" in problems(config)[0][1]
    config = stack_config()
    config["gpu-inference:model_servers"] *= 2
    assert {path for path, _ in problems(config)} == {"model_servers[1].name", "model_servers[1].autoscaler.name"}


def test_two_model_servers_share_their_nodes() -> None:
    config = stack_config()
    second = json.loads(json.dumps(config["gpu-inference:model_servers"][0]))
    second |= {"name": "second", "autoscaler": {"name": "second", "min_replicas": 1}}
    config["gpu-inference:model_servers"].append(second)
    found = parse_settings(flat(config), [], "sandbox")
    assert check(found) == []
    assert [maximum_replicas(found, server) for server in found.model_servers] == [3, 2]


def test_an_encrypted_value_is_refused() -> None:
    with pytest.raises(SettingsError, match="gpu-inference:token: is encrypted"):
        parse_settings(flat(stack_config()), ["gpu-inference:token"], "prod")


def test_the_error_names_the_stack_file_and_counts() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings({"gpu-inference:cluster": "x"}, [], "prod")
    lines = str(caught.value).splitlines()
    assert lines[0] == "stacks/Pulumi.prod.yaml has 4 problems; nothing was changed."
    assert all(line.startswith("  gpu-inference:") for line in lines[1:])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(section=st.sampled_from([*stack_config(), "gpu-inference:other"]), value=anything)
def test_no_value_of_a_section_is_a_traceback(section: str, value: Any) -> None:
    problems(stack_config() | {section: value})


@given(key=st.sampled_from(sorted(stack_config()["gpu-inference:model_servers"][0])), value=anything)
def test_no_value_of_a_model_server_is_a_traceback(key: str, value: Any) -> None:
    server_problems(lambda server: server.update({key: value}))
