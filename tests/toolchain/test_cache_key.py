"""The key changes with every input of a build, and with nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolchain import cache, tools
from toolchain.gocommand import GoFacts
from toolchain.tools import GoBinary, Tool

GO = GoFacts("go1.26.8", "linux", "amd64", "1", Path("/gocache"), Path("/modules"))
TOOL = Tool(name="one", summary="", folder="one", binary=GoBinary(".", "one"))

file_names = st.text(st.sampled_from("ab.:1"), min_size=1, max_size=4).filter(lambda name: name not in {".", ".."})
folders = st.dictionaries(file_names, st.binary(max_size=6), max_size=4)


def key_of(files: Mapping[str, bytes], tool: Tool = TOOL, go: GoFacts = GO) -> str:
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tools, "SOURCE_ROOT", Path(root))
        for name in (tool.folder, *tool.siblings):
            (Path(root) / name).mkdir()
        for name, content in files.items():
            (Path(root) / tool.folder / name).write_bytes(content)
        return cache.key(tool, go)


@given(folders, folders)
def test_two_folders_share_a_key_only_if_they_are_the_same(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    assert (key_of(one) == key_of(other)) is (one == other)


@given(folders)
def test_the_order_in_which_files_were_written_does_not_matter(files: dict[str, bytes]) -> None:
    assert key_of(files) == key_of(dict(reversed(files.items())))


@pytest.mark.parametrize(
    "go",
    [
        GO._replace(version="go1.26.9"),
        GO._replace(arch="arm64"),
        GO._replace(cgo="0"),
    ],
)
def test_another_compiler_or_platform_is_another_build(go: GoFacts) -> None:
    assert key_of({}, go=go) != key_of({})


def test_where_go_keeps_its_caches_does_not_matter() -> None:
    moved = GO._replace(build_cache=Path("/elsewhere"), module_cache=Path("/elsewhere"))
    assert key_of({}, go=moved) == key_of({})


def test_build_flags_count_and_descriptions_do_not() -> None:
    flagged = replace(TOOL, binary=GoBinary(".", "one", variables={"main.version": "2"}))
    described = replace(TOOL, summary="told anew", cold_build_minutes=9, build_memory_gib=9)
    assert key_of({}, flagged) != key_of({})
    assert key_of({}, described) == key_of({})


def test_a_change_of_one_pin_touches_only_its_tool_and_what_gathers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = (
        TOOL,
        replace(TOOL, name="two", folder="two"),
        Tool(name="both", summary="", parts=("one",)),
    )
    monkeypatch.setattr(tools, "SOURCE_ROOT", tmp_path)
    monkeypatch.setattr(tools, "TOOLS", table)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "go.mod").write_text("module x\n\ngo 1.26.0\n")
    before = {tool.name: cache.key(tool, GO) for tool in table}
    (tmp_path / "one" / "go.mod").write_text("module x\n\ngo 1.26.1\n")
    after = {tool.name: cache.key(tool, GO) for tool in table}
    assert {name for name in before if before[name] != after[name]} == {"one", "both"}
