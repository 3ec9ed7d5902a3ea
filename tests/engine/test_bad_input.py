"""Wrong input, as a person meets it: a sentence, an exit code, and nothing changed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.stacks.workspace import Workspace
from tests.engine.stack_runs import StackRuns
from tests.stack_files import REPOSITORY

pytestmark = pytest.mark.engine


def server(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda config: config["gpu-inference:model_servers"][0].update(values)


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (server(tensor_paralel_size=4), ["model_servers[0].tensor_paralel_size: unknown key"]),
        (server(tensor_parallel_size="four"), ["model_servers[0].tensor_parallel_size", "valid integer", "'four'"]),
        (server(tensor_parallel_size=3), ["3 does not divide the 64 attention heads", "allowed: 1, 2, 4, 8"]),
        (server(tensor_parallel_size=1, kv_cache_dtype="auto"), ["Nearest change that fits"]),
        (
            lambda config: config["gpu-inference:node_groups"][0].update(instance_type="p5.4xlarge"),
            ["4 GPUs for one replica, but a p5.4xlarge has 1"],
        ),
    ],
    ids=["unknown key", "wrong type", "heads", "does not fit", "more GPUs than a node has"],
)
def test_a_wrong_stack_file_stops_before_any_resource(
    runs: StackRuns, change: Callable[[dict[str, Any]], None], sentences: list[str]
) -> None:
    failed = runs.run("up", runs.stack_file(change))
    assert failed.code == 1
    assert "stacks/Pulumi.sandbox.yaml has 1 problem; nothing was changed." in failed.text
    for sentence in sentences:
        assert sentence in failed.text
    assert "Traceback" not in failed.text
    assert {step for step in failed.steps() if not step.startswith("pulumi:pulumi:Stack")} == set()


def test_the_policies_stop_what_the_settings_let_through(runs: StackRuns) -> None:
    """The floor of /dev/shm is a rule, not a setting's range: other programs are held to it too."""
    failed = runs.run("preview", runs.stack_file(server(shm_gib=2)))
    assert failed.code == 1
    assert "[mandatory]" in failed.text
    assert "shm-size" in failed.text
    assert "Deployment/vllm-llama3-70b" in failed.text


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sandbox", *arguments],
        cwd=REPOSITORY,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_stack_that_does_not_exist(tmp_path: Path) -> None:
    done = command("deploy", "--stack", "prodd", GPU_INFERENCE_SANDBOX_DIR=str(tmp_path / "sandbox"))
    assert done.returncode == 2
    assert "There is no stack 'prodd'" in done.stderr
    assert "There are: " in done.stderr
    assert not (tmp_path / "sandbox").exists()


def test_a_passphrase_of_another_backend_does_no_harm(runs: StackRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox's state holds no secret, so its passphrase is fixed: what the shell has is meant for a real stack."""
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "of another backend")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://of-another-backend")
    done = runs.run("preview", runs.stack_file())
    assert done.code == 0, done.text


def test_the_engine_called_by_hand_without_a_sandbox(runs: StackRuns, tmp_path: Path) -> None:
    def elsewhere(config: dict[str, Any]) -> None:
        config["gpu-inference:cluster"] = {"existing": {"kubeconfig": str(tmp_path / ".sandbox" / "kubeconfig")}}
        config["gpu-inference:model_cache"]["storage_class"] = "sandbox-rwx"
        del config["gpu-inference:aws"], config["gpu-inference:network"]
        del config["gpu-inference:node_groups"][0]["capacity"]

    file = runs.stack_file(elsewhere)
    workspace = Workspace(runs.sandbox.folder, "sandbox", file)
    workspace.prepare()
    done = subprocess.run(
        workspace.engine(["up", "--yes", "--skip-preview", "--config-file", str(workspace.config_file)]),
        env=workspace.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0
    assert "there is no kubeconfig at" in done.stdout
    assert "start the sandbox with `make up`" in done.stdout
    assert "Traceback" not in done.stdout
