"""The house's arrows: who may import whom (docs/decisions/engine-and-stack-files.md says where they grew)."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "catalog": set(),
    "toolchain": set(),
    "sizing": {"catalog"},
    "components": {"catalog", "sizing"},
    "policies": {"catalog", "sizing"},
    "report": {"catalog"},
    "sandbox": {"catalog", "toolchain"},
    "infra": {"catalog", "sizing", "components", "policies", "toolchain"},
}
ROOMS = {*MAY_IMPORT, "tests"}


def imported_rooms(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names} & ROOMS


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    files = sorted((REPOSITORY / room).rglob("*.py"))
    assert files
    for file in files:
        allowed = MAY_IMPORT[room] | {room}
        assert imported_rooms(file) <= allowed, f"{file.relative_to(REPOSITORY)} imports {imported_rooms(file)}"


@pytest.mark.parametrize("room", ["infra", "policies"])
def test_no_module_is_called_like_one_of_the_standard_library(room: str) -> None:
    """The engine puts these folders first on the path: a platform.py there would break every import of platform."""
    names = {path.stem for path in (REPOSITORY / room).iterdir()} - {"__init__", "__main__", "__pycache__"}
    assert names & set(sys.stdlib_module_names) == set()
