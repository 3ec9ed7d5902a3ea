"""`python -m toolchain` as a person starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]


def toolchain(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolchain", *arguments],
        cwd=REPO,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["path", "ectd"], {}, "There is no tool named 'ectd'."),
        (["build", "ectd"], {}, "The tools are: etcd, kwok,"),
        (["build", "etcd"], {"PATH": "/nowhere"}, "Go is not installed"),
        (["build", "etcd"], {"XDG_CACHE_HOME": "/proc/nowhere"}, "can't be written"),
        (["list"], {"PATH": "/nowhere"}, "Go is not installed"),
        (["prune"], {"XDG_CACHE_HOME": "/proc/nowhere"}, "can't be written"),
        (["bild"], {}, "No such command 'bild'"),
    ],
)
def test_bad_input_and_a_bad_machine_end_with_code_2_and_a_sentence(
    arguments: list[str], environment: dict[str, str], words: str
) -> None:
    done = toolchain(*arguments, **environment)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_list_shows_every_tool_of_an_empty_cache_and_builds_nothing(tmp_path: Path) -> None:
    done = toolchain("list", XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0
    assert "pulumi-resource-kubernetes" in done.stdout
    assert "MiB" not in done.stdout
    assert list(tmp_path.iterdir()) == []
