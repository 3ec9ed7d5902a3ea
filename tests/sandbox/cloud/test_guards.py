"""Stand-ins start in their own sandbox and nowhere else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sandbox.cloud.errors import StandInError
from sandbox.cloud.guards import refuse_outside_the_sandbox
from sandbox.cloud.plugins import VERSIONS, install, is_stand_in, plugin_file
from sandbox.state_folder import StateFolder


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "a clone's sandbox")


def environment(folder: StateFolder, **changes: str) -> dict[str, str]:
    right = {
        "PULUMI_HOME": str(folder.pulumi / "home"),
        "PULUMI_BACKEND_URL": (folder.pulumi / "state").as_uri(),
    }
    return {key: value for key, value in {**right, **changes}.items() if value}


def test_at_home_they_start(folder: StateFolder) -> None:
    refuse_outside_the_sandbox("aws", folder, environment(folder))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"PULUMI_BACKEND_URL": "s3://team-state"}, "The state backend is s3://team-state"),
        ({"PULUMI_BACKEND_URL": "https://api.pulumi.com"}, "The state backend is https://api.pulumi.com"),
        ({"PULUMI_BACKEND_URL": "file:///home/me/state"}, "The state backend is file:///home/me/state"),
        ({"PULUMI_BACKEND_URL": "file://~"}, "The state backend is file://~"),
        ({"PULUMI_BACKEND_URL": ""}, "The state backend is not set"),
        ({"PULUMI_HOME": "/home/me/.pulumi"}, "PULUMI_HOME is /home/me/.pulumi"),
        ({"PULUMI_HOME": ""}, "PULUMI_HOME is not set"),
    ],
)
def test_elsewhere_they_refuse(folder: StateFolder, changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(StandInError, match="must never run elsewhere") as caught:
        refuse_outside_the_sandbox("aws", folder, environment(folder, **changes))
    assert sentence in str(caught.value)


def test_a_link_out_of_the_sandbox_is_seen_through(folder: StateFolder, tmp_path: Path) -> None:
    outside = tmp_path / "real state"
    outside.mkdir()
    folder.pulumi.mkdir(parents=True)
    folder.pulumi.joinpath("state").symlink_to(outside)
    with pytest.raises(StandInError, match="state backend"):
        refuse_outside_the_sandbox("eks", folder, environment(folder))


@pytest.mark.parametrize("package", list(VERSIONS))
def test_the_installed_plugin_itself_refuses(folder: StateFolder, package: str) -> None:
    home = folder.pulumi / "home"
    install(home, folder)
    plugin = plugin_file(home, package)
    assert is_stand_in(plugin)
    away = {**os.environ, **environment(folder, PULUMI_BACKEND_URL="s3://team-state")}
    done = subprocess.run([plugin, "127.0.0.1:1"], env=away, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "must never run elsewhere" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_official_plugin_is_not_taken_for_a_stand_in(tmp_path: Path) -> None:
    official = tmp_path / "pulumi-resource-aws"
    official.write_bytes(b"\x7fELF" + bytes(8192))
    assert not is_stand_in(official)
    assert not is_stand_in(tmp_path / "nothing")


def test_installing_again_changes_nothing(folder: StateFolder) -> None:
    home = folder.pulumi / "home"
    install(home, folder)
    before = plugin_file(home, "aws").stat()
    install(home, folder)
    assert plugin_file(home, "aws").stat() == before
