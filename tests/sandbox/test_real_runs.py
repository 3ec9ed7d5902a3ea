"""A run against AWS starts only where no stand-in can be met, and only for named accounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sandbox.cloud.plugins import install
from sandbox.stacks.real_runs import problems, stand_ins_in_reach
from sandbox.state_folder import StateFolder

CONFIG: dict[str, Any] = {"gpu-inference:aws": {"region": "us-east-1", "allowed_account_ids": ["111122223333"]}}


@pytest.fixture
def sandbox(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "sandbox")


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """A shell with the AWS CLI, official plugins and a team backend."""
    programs = tmp_path / "bin"
    programs.mkdir()
    cli = programs / "aws"
    cli.write_text("#!/bin/sh\n", encoding="utf-8")
    cli.chmod(0o755)
    plugin = tmp_path / ".pulumi/plugins/resource-aws-v7.51.1/pulumi-resource-aws"
    plugin.parent.mkdir(parents=True)
    plugin.write_bytes(b"\x7fELF official")
    return {"PATH": str(programs), "HOME": str(tmp_path), "PULUMI_BACKEND_URL": "s3://team-state"}


def test_it_may_start(shell: dict[str, str], sandbox: StateFolder) -> None:
    assert list(problems(CONFIG, shell, sandbox)) == []


@pytest.mark.parametrize("aws", [None, {}, {"allowed_account_ids": []}])
def test_without_named_accounts_it_does_not(shell: dict[str, str], sandbox: StateFolder, aws: Any) -> None:
    [problem] = problems({"gpu-inference:aws": aws}, shell, sandbox)
    assert problem.startswith("gpu-inference:aws.allowed_account_ids is missing or empty")


def test_without_the_aws_cli_it_does_not(shell: dict[str, str], sandbox: StateFolder, tmp_path: Path) -> None:
    [problem] = problems(CONFIG, {**shell, "PATH": str(tmp_path / "empty")}, sandbox)
    assert "The AWS CLI is not on PATH" in problem


def test_with_the_sandboxs_state_it_does_not(shell: dict[str, str], sandbox: StateFolder) -> None:
    backend = (sandbox.pulumi / "state").as_uri()
    [problem] = problems(CONFIG, {**shell, "PULUMI_BACKEND_URL": backend}, sandbox)
    assert "PULUMI_BACKEND_URL is the sandbox's own state" in problem


def test_with_stand_ins_in_the_home_it_does_not(shell: dict[str, str], sandbox: StateFolder) -> None:
    install(sandbox.pulumi / "home", sandbox)
    found = list(problems(CONFIG, {**shell, "PULUMI_HOME": str(sandbox.pulumi / "home")}, sandbox))
    assert len(found) == 2
    assert all("stand-in" in problem for problem in found)


def test_with_a_stand_in_on_the_path_it_does_not(shell: dict[str, str], sandbox: StateFolder) -> None:
    install(sandbox.pulumi / "home", sandbox)
    folder = sandbox.pulumi / "home" / "plugins" / "resource-eks-v4.4.0"
    reach = stand_ins_in_reach({**shell, "PATH": f"{shell['PATH']}:{folder}"})
    assert reach == [folder / "pulumi-resource-eks"]


def test_the_command_says_what_is_missing_and_starts_nothing(
    monkeypatch: pytest.MonkeyPatch, shell: dict[str, str], sandbox: StateFolder, tmp_path: Path
) -> None:
    from sandbox.__main__ import application
    from sandbox.errors import InputError

    for name, value in {
        **shell,
        "PATH": str(tmp_path / "empty"),
        "GPU_INFERENCE_SANDBOX_DIR": str(sandbox.path),
    }.items():
        monkeypatch.setenv(name, value)
    done = CliRunner().invoke(application, ["on-aws", "preview", "--stack", "prod"])
    assert isinstance(done.exception, InputError)
    assert "A run of prod against AWS does not start" in str(done.exception)
    assert "The AWS CLI is not on PATH" in str(done.exception)
    assert not sandbox.path.exists()
