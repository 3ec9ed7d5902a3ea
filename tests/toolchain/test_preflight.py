"""What is said to be missing, and when."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain import preflight, tools
from toolchain.errors import ToolchainError
from toolchain.preflight import Machine
from toolchain.tools import Tool

LARGE = Machine(memory_available_gib=24, disk_free_gib=100, disk_path=Path("/cache"))
some_tools = st.lists(st.sampled_from(tools.TOOLS), min_size=1, unique_by=lambda tool: tool.name)


@given(some_tools)
def test_a_large_machine_builds_everything(wanted: list[Tool]) -> None:
    assert preflight.problems(wanted, LARGE) == []


@given(some_tools, st.floats(0, 30), st.floats(0, 30))
def test_each_shortage_is_named_once_and_only_then(wanted: list[Tool], memory: float, disk: float) -> None:
    found = preflight.problems(wanted, LARGE._replace(memory_available_gib=memory, disk_free_gib=disk))
    short_of_memory = memory < max(tool.build_memory_gib for tool in wanted)
    short_of_disk = disk < preflight.disk_needed_gib(wanted)
    assert [problem.split(":")[0] for problem in found] == ["Memory"] * short_of_memory + ["Disk"] * short_of_disk


def test_linking_the_kubernetes_provider_asks_for_six_gib() -> None:
    (problem,) = preflight.problems(
        [tools.find("pulumi-resource-kubernetes")], LARGE._replace(memory_available_gib=5.9)
    )
    assert problem.startswith("Memory: 5.9 GiB are available; linking pulumi-resource-kubernetes takes up to 6 GiB")


def test_copying_definitions_asks_for_little() -> None:
    small = Machine(memory_available_gib=1, disk_free_gib=1.5, disk_path=Path("/"))
    assert preflight.problems([tools.find("keda")], small) == []


def test_another_system_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ToolchainError, match="on Linux only; this is darwin"):
        preflight.check(tools.TOOLS, [Path("/")])


def test_this_machine_is_measured_at_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    machine = preflight.measure([tmp_path / "not" / "yet"])
    assert 0 < machine.memory_available_gib < 1e5
    assert machine.disk_free_gib > 0
    assert machine.disk_path == tmp_path / "not" / "yet"
