"""Runs against AWS itself: the official plugins and the team's backend, after checks that no stand-in can be met.

The sandbox is nowhere in such a run. The checks are here because they are the sandbox's counterpart: a stand-in refuses
to start outside the sandbox, and a run against AWS refuses to start where a stand-in could be picked up.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.cloud.plugins import VERSIONS, is_stand_in
from sandbox.errors import InputError, SandboxError
from sandbox.state_folder import StateFolder
from toolchain.installed import pulumi_cli

REPOSITORY = Path(__file__).resolve().parents[2]
ACCOUNTS = "gpu-inference:aws.allowed_account_ids"


def problems(config: Mapping[str, Any], environment: Mapping[str, str], sandbox: StateFolder) -> Iterator[str]:
    """What forbids a run against AWS, as sentences; none where it may start. ``config`` is the stack file's."""
    accounts = (config.get("gpu-inference:aws") or {}).get("allowed_account_ids")
    if not accounts:
        yield (
            f"{ACCOUNTS} is missing or empty. Name the accounts that this stack may touch, so that credentials of "
            "another account in your shell can do no harm."
        )
    for path in stand_ins_in_reach(environment):
        yield f"{path} is the sandbox's stand-in for a provider plugin. Delete it, or use another PULUMI_HOME."
    backend = environment.get("PULUMI_BACKEND_URL", "")
    if backend.startswith(sandbox.pulumi.as_uri()):
        yield (
            f"PULUMI_BACKEND_URL is the sandbox's own state ({backend}). Leave the sandbox's environment, and name the "
            "team's backend."
        )
    if shutil.which("aws", path=environment.get("PATH", os.defpath)) is None:
        yield (
            "The AWS CLI is not on PATH. pulumi-eks asks for it, and the cluster's kubeconfig calls "
            "`aws eks get-token`."
        )


def stand_ins_in_reach(environment: Mapping[str, str]) -> list[Path]:
    """Stand-ins where the engine of this environment would look for plugins: in its PULUMI_HOME, and on PATH."""
    home = Path(environment.get("PULUMI_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".pulumi")
    candidates = [path for package in VERSIONS for path in home.glob(f"plugins/resource-{package}-v*/pulumi-*")]
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        candidates += [Path(folder) / f"pulumi-resource-{package}" for package in VERSIONS]
    return [path for path in candidates if is_stand_in(path)]


def run(verb: str, stack: str, config: Mapping[str, Any], sandbox: StateFolder, arguments: Sequence[str]) -> None:
    """``preview``, ``up``, ``refresh`` or ``destroy`` of a stack against AWS, with the policy pack where it applies.

    The engine asks before it changes anything, unless ``--yes`` is among ``arguments``.

    Raises:
        InputError: something forbids the run; nothing was started.
        SandboxError: the engine fails, which it has said itself.
    """
    found = list(problems(config, os.environ, sandbox))
    if found:
        lines = "\n".join(f"  {problem}" for problem in found)
        raise InputError(f"A run of {stack} against AWS does not start:\n{lines}")
    policies = ["--policy-pack", str(REPOSITORY / "policies")] if verb in ("preview", "up") else []
    command = [str(pulumi_cli().path), "-C", str(REPOSITORY), verb, "--stack", stack, *policies, *arguments]
    code = subprocess.run(command, env=os.environ | {"PULUMI_ERROR_OUTPUT_STRING": "true"}, check=False).returncode
    if code:
        raise SandboxError("")
