"""Runs the `go` command: its facts, and the modules that it downloads and verifies."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from toolchain import goerrors
from toolchain.errors import ToolchainError

_INSTALL_GO = "Install Go {version} or later (https://go.dev/dl), and make sure that `go version` works in this shell."


class GoFacts(NamedTuple):
    """What decides a build apart from the sources, and where Go keeps its caches."""

    version: str
    os: str
    arch: str
    cgo: str
    build_cache: Path
    module_cache: Path


def environment() -> dict[str, str]:
    """The environment of every go command: no settings of the user's that would change what is built."""
    ignored = {"GOOS", "GOARCH", "GOEXPERIMENT", "GOWORK"}
    return {key: value for key, value in os.environ.items() if key not in ignored} | {
        "GOFLAGS": "-buildvcs=false",
        "GOWORK": "off",
    }


def required_version(folders: tuple[Path, ...]) -> str:
    """The newest Go version that one of these folders' go.mod asks for, such as "1.26.6"."""
    directives = [
        match.group(1)
        for folder in folders
        if (match := re.search(r"^go (\d[\d.]*)$", (folder / "go.mod").read_text(), re.MULTILINE))
    ]
    return max(directives, key=version_tuple)


def version_tuple(version: str) -> tuple[int, ...]:
    """ "go1.26.8" or "1.26" as numbers, for comparison; anything after them is ignored."""
    match = re.match(r"(?:go)?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match.group(1).split(".")) if match else ()


@lru_cache
def facts(folder: Path, required: str) -> GoFacts:
    """Go's facts as seen from a module folder, so that Go's own switch to a newer toolchain is seen too.

    Raises ToolchainError where Go is missing or older than `required`.
    """
    install = _INSTALL_GO.format(version=required)
    if shutil.which("go") is None:
        raise ToolchainError("Go is not installed, or not on PATH. The toolchain is built with it.", install)
    names = ("GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOCACHE", "GOMODCACHE")
    done = subprocess.run(
        ["go", "env", "-json", *names], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ToolchainError(f"`go env` failed: {done.stderr.strip()}", install)
    values = json.loads(done.stdout)
    if version_tuple(values["GOVERSION"]) < version_tuple(required):
        raise ToolchainError(f"Go {values['GOVERSION'].removeprefix('go')} is too old for the toolchain.", install)
    return GoFacts(
        version=values["GOVERSION"],
        os=values["GOOS"],
        arch=values["GOARCH"],
        cgo=values["CGO_ENABLED"],
        build_cache=Path(values["GOCACHE"]),
        module_cache=Path(values["GOMODCACHE"]),
    )


def module_folder(folder: Path, module: str) -> Path:
    """Where a module that `folder` pins lies on disk, downloaded if needed and checked against its go.sum.

    Raises ToolchainError with Go's own words where it can't be had or its checksum differs.
    """
    done = subprocess.run(
        ["go", "mod", "download", "-json", module],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        words = done.stderr.strip() or _error_in(done.stdout)
        raise ToolchainError(
            f"Go could not get the module {module} that {folder.name}/go.mod pins:\n{words}",
            goerrors.hint(words),
        )
    return Path(json.loads(done.stdout)["Dir"])


def _error_in(stdout: str) -> str:
    """The error inside `go mod download -json`'s answer."""
    try:
        return str(json.loads(stdout)["Error"])
    except (ValueError, KeyError):
        return stdout.strip()
