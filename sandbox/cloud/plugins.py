"""Puts the stand-ins where the engine looks for plugins: only ever into the sandbox's own PULUMI_HOME."""

from __future__ import annotations

import shlex
import sys
from importlib import metadata
from pathlib import Path

from sandbox.state_folder import StateFolder

REPOSITORY = Path(__file__).resolve().parents[2]
VERSIONS = {package: metadata.version(f"pulumi_{package}") for package in ("aws", "eks")}
"""A plugin has the version of the Python package that asks for it."""
MARK = "sandbox.cloud.serve"
"""In every stand-in's executable, and in no official plugin."""


def plugin_file(home: Path, package: str) -> Path:
    """Where the engine looks for the plugin of a package."""
    return home / "plugins" / f"resource-{package}-v{VERSIONS[package]}" / f"pulumi-resource-{package}"


def install(home: Path, folder: StateFolder) -> None:
    """Write the executables of both stand-ins: a line of shell each that runs this clone's own code."""
    for package in VERSIONS:
        path = plugin_file(home, package)
        words = ["exec", sys.executable, "-m", MARK, package, str(folder.path)]
        text = (
            "#!/bin/sh\n"
            "# The gpu-inference sandbox's stand-in for this provider. It talks to no cloud.\n"
            f"export PYTHONPATH={shlex.quote(str(REPOSITORY))}\n"
            f'{shlex.join(words)} "$@"\n'
        )
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.new")
        fresh.write_text(text, encoding="utf-8")
        fresh.chmod(0o755)
        fresh.replace(path)


def is_stand_in(path: Path) -> bool:
    """Whether the executable at ``path`` is a stand-in (of any clone)."""
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(4096)
    except OSError:
        return False
