"""Building into the cache, with a `go` of the test's own that logs its calls, or the real one on a tiny module."""

from __future__ import annotations

import io
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from toolchain import build, cache, gocommand, preflight, tools
from toolchain.errors import ToolchainError
from toolchain.tools import GoBinary, ModuleFiles, Tool

# Answers what the toolchain asks of Go. `go build` logs its begin and end, takes as long as SLOW says, and fails like
# a compiler while a file named `broken` lies in the module.
_FAKE_GO = """\
#!{python}
import json, os, pathlib, sys, time
arguments = sys.argv[1:]
if arguments[0] == "env":
    print(json.dumps({{"GOVERSION": os.environ.get("FAKE_GO_VERSION", "go1.26.8"), "GOOS": "linux", "GOARCH": "amd64",
                      "CGO_ENABLED": "1", "GOCACHE": "{folder}/gocache", "GOMODCACHE": "{folder}/modules"}}))
elif arguments[:2] == ["mod", "download"]:
    print(json.dumps({{"Dir": "{folder}/module"}}))
else:
    log = os.open("{folder}/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, b"begin " + pathlib.Path.cwd().name.encode() + b"\\n")
    print("example.org/some/package", file=sys.stderr)
    time.sleep(float(os.environ.get("SLOW", "0")))
    output = pathlib.Path(arguments[arguments.index("-o") + 1])
    output.write_text("half")
    if pathlib.Path("broken").exists():
        print("# example.org/some\\n./main.go:1:1: no space left on device", file=sys.stderr)
        sys.exit(1)
    output.write_text("built")
    os.write(log, b"end " + pathlib.Path.cwd().name.encode() + b"\\n")
"""


class Workshop:
    """A toolchain of two tools in a temporary folder, with its own cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.cache = folder / "cache" / "gpu-inference" / "toolchain"
        self.tools = tuple(
            Tool(name=name, summary="a test", folder=name, binary=GoBinary(".", name, links=(f"{name}-alias",)))
            for name in ("one", "two")
        )
        for tool in self.tools:
            source = folder / "source" / tool.folder
            source.mkdir(parents=True)
            (source / "go.mod").write_text("module gpu-inference/test\n\ngo 1.26.0\n")
            (source / "go.sum").write_text("")
            (source / "main.go").write_text("package main\n\nfunc main() {}\n")
        go = folder / "bin" / "go"
        go.parent.mkdir()
        go.write_text(_FAKE_GO.format(python=sys.executable, folder=folder))
        go.chmod(0o755)

    def ensure(self) -> str:
        """Builds what is missing and returns what was shown meanwhile."""
        shown = io.StringIO()
        self.entries = build.ensure(self.tools, Console(file=shown, width=200))
        return shown.getvalue()

    def built(self) -> list[str]:
        """The tools in the order in which their builds ended."""
        return [line.removeprefix("end ") for line in self.log.read_text().splitlines() if line.startswith("end ")]

    def leftovers(self) -> set[str]:
        """What the cache holds besides whole entries."""
        return {path.name for path in self.cache.iterdir()} - {path.name for path in self.entries.values()}


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = Workshop(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(tools, "SOURCE_ROOT", tmp_path / "source")
    for module in (tools, build):
        monkeypatch.setattr(module, "TOOLS", made.tools)
    gocommand.facts.cache_clear()
    yield made
    gocommand.facts.cache_clear()


def test_builds_once_and_then_finds_it(workshop: Workshop) -> None:
    first = workshop.ensure()
    assert workshop.built() == ["one", "two"]
    assert "[1/2] one" in first
    assert "[2/2] two" in first
    assert workshop.ensure() == ""
    assert workshop.built() == ["one", "two"]
    entry = workshop.entries["one"]
    assert (entry / "one").read_text() == (entry / "one-alias").read_text() == "built"
    assert workshop.leftovers() == {"build.lock"}


def test_a_changed_pin_rebuilds_only_its_tool(workshop: Workshop) -> None:
    workshop.ensure()
    old = dict(workshop.entries)
    with (workshop.folder / "source" / "two" / "go.mod").open("a") as pins:
        pins.write("// another pin\n")
    workshop.ensure()
    assert workshop.built() == ["one", "two", "two"]
    assert workshop.entries["one"] == old["one"]
    assert workshop.entries["two"] != old["two"]


def test_prune_keeps_what_the_present_pins_need(workshop: Workshop) -> None:
    workshop.ensure()
    old = workshop.entries["two"]
    with (workshop.folder / "source" / "two" / "go.mod").open("a") as pins:
        pins.write("// another pin\n")
    workshop.ensure()
    (workshop.cache / ".building" / "one-0").mkdir(parents=True)
    build.prune(Console(file=io.StringIO()))
    assert not old.exists()
    assert workshop.leftovers() == {"build.lock"}
    assert all(path.exists() for path in workshop.entries.values())


def test_a_failed_build_shows_gos_words_and_leaves_no_half_entry(workshop: Workshop) -> None:
    (workshop.folder / "source" / "two" / "broken").touch()
    with pytest.raises(ToolchainError) as error:
        workshop.ensure()
    shown = str(error.value)
    assert "./main.go:1:1: no space left on device" in shown
    assert "The disk is full" in shown
    assert "example.org/some/package\n" not in shown
    assert {path.name.split("-")[0] for path in workshop.cache.iterdir()} == {"one", "build.lock"}
    (workshop.folder / "source" / "two" / "broken").unlink()
    workshop.ensure()
    assert workshop.built() == ["one", "two"]


def test_two_builds_at_once_share_the_work(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOW", "0.4")
    shown: list[str] = []
    builders = [threading.Thread(target=lambda: shown.append(workshop.ensure())) for _ in range(3)]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join(30)
    assert len(shown) == 3
    assert workshop.log.read_text().split() == ["begin", "one", "end", "one", "begin", "two", "end", "two"]
    assert sum(f"process {os.getpid()}" in text for text in shown) == 2


def test_a_killed_build_leaves_nothing_half_and_the_next_one_waits_for_its_compiler(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOW", "0.7")
    victim = multiprocessing.get_context("fork").Process(target=workshop.ensure)
    victim.start()
    end = time.monotonic() + 30
    while not workshop.log.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    victim.kill()
    victim.join()

    workshop.ensure()
    # The orphaned compiler of "one" ended before the second build of it began.
    assert workshop.log.read_text().split()[:6] == ["begin", "one", "end", "one", "begin", "one"]
    assert workshop.built() == ["one", "one", "two"]
    assert (workshop.entries["one"] / "one").read_text() == "built"
    assert workshop.leftovers() == {"build.lock"}


def test_a_missing_go_sum_is_refused(workshop: Workshop) -> None:
    (workshop.folder / "source" / "one" / "go.sum").unlink()
    with pytest.raises(ToolchainError, match=r"one/go\.sum is missing"):
        workshop.ensure()
    assert not workshop.log.exists()


def test_files_of_a_module_are_copied_and_can_be_removed_again(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = workshop.folder / "module" / "crd"
    module.mkdir(parents=True)
    (module / "a.yaml").write_text("kind: A\n")
    (module / "a.yaml").chmod(0o444)
    (module / "README.md").write_text("not asked for")
    files = ModuleFiles("example.org/crds", ("crd/*.yaml",), "crds")
    workshop.tools = (Tool(name="crds", summary="a test", folder="one", files=(files,)),)
    workshop.ensure()
    copied = list((workshop.entries["crds"] / "crds").iterdir())
    assert [path.name for path in copied] == ["a.yaml"]
    assert copied[0].stat().st_mode & 0o200
    assert not workshop.log.exists()


def test_a_pattern_that_matches_nothing_is_an_error(workshop: Workshop) -> None:
    (workshop.folder / "module").mkdir()
    files = ModuleFiles("example.org/crds", ("crd/*.yaml",), "crds")
    workshop.tools = (Tool(name="crds", summary="a test", folder="one", files=(files,)),)
    with pytest.raises(ToolchainError, match=r"has no crd/\*\.yaml"):
        workshop.ensure()


def test_nothing_starts_when_the_machine_is_too_small(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = preflight.Machine(memory_available_gib=0.1, disk_free_gib=0.1, disk_path=Path("/tiny"))
    monkeypatch.setattr(preflight, "measure", lambda paths: tiny)
    with pytest.raises(ToolchainError) as error:
        workshop.ensure()
    assert "Memory: 0.1 GiB" in str(error.value)
    assert "0.1 GiB are free at /tiny" in str(error.value)
    assert not workshop.log.exists()


def test_go_that_is_missing_is_said_with_what_to_do(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolchainError, match=r"Go is not installed[\s\S]*Install Go 1\.26\.0 or later"):
        workshop.ensure()


def test_go_that_is_too_old_is_said_with_what_to_do(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GO_VERSION", "go1.25.9")
    with pytest.raises(ToolchainError, match=r"Go 1\.25\.9 is too old[\s\S]*Install Go 1\.26\.0 or later"):
        workshop.ensure()


def test_a_cache_that_can_not_be_written_is_said(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    (workshop.folder / "a-file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(workshop.folder / "a-file"))
    with pytest.raises(ToolchainError, match="can't be written"):
        workshop.ensure()


def test_the_real_go_builds_and_explains(workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin" / "go").unlink()
    gocommand.facts.cache_clear()
    main = tmp_path / "source" / "one" / "main.go"
    main.write_text(
        'package main\n\nimport "fmt"\n\nvar version = "unset"\n\nfunc main() { fmt.Println("version", version) }\n'
    )
    binary = GoBinary(".", "one", variables={"main.version": "1.2.3"})
    workshop.tools = (Tool(name="one", summary="a test", folder="one", binary=binary),)
    workshop.ensure()
    printed = subprocess.run([workshop.entries["one"] / "one"], capture_output=True, text=True, check=True)
    assert printed.stdout == "version 1.2.3\n"

    main.write_text("package main\n\nfunc main() { undefinedName() }\n")
    with pytest.raises(ToolchainError, match=r"main\.go:3:\d+: undefined: undefinedName"):
        workshop.ensure()


def test_an_entry_is_sized_by_its_files_each_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 2**20)
    (tmp_path / "alias").symlink_to("file")
    os.link(tmp_path / "file", tmp_path / "link")
    assert cache.size_mib(tmp_path) == 1
