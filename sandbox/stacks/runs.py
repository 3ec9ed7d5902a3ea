"""``up``, ``preview``, ``refresh`` and ``destroy`` of a stack on the sandbox: repair first, policies always."""

from __future__ import annotations

import ctypes
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from sandbox.cloud.account import Account
from sandbox.control_plane import Sandbox
from sandbox.errors import SandboxError
from sandbox.stacks.pending_creates import (
    exists,
    has_pending_operations,
    pending_creates,
    pending_in_account,
    pending_urns,
    with_adopted,
)
from sandbox.stacks.stale_locks import remove_stale
from sandbox.stacks.workspace import REPOSITORY, Workspace

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class RunFailedError(SandboxError):
    """The engine ended with an error, which it has printed itself."""

    def __init__(self, exit_code: int) -> None:
        super().__init__("")
        self.exit_code = exit_code


def up(sandbox: Sandbox, workspace: Workspace, report: Callable[[str], None], arguments: Sequence[str]) -> None:
    """Bring the sandbox up and the stack to what the program says.

    Raises:
        SandboxError: the sandbox does not come up, another run is under way, or the engine fails.
    """
    _ready(sandbox, workspace, report)
    _run(workspace, ["up", "--yes", "--skip-preview", *_program_flags(workspace), *arguments])
    sandbox.up()  # KEDA's stand-in joins once the stack has brought KEDA's CRDs


def preview(sandbox: Sandbox, workspace: Workspace, report: Callable[[str], None], arguments: Sequence[str]) -> None:
    """Show what ``up`` would change, and the settings that it follows from. Raises as ``up`` does.

    Of a stack of which nothing is deployed here, this is offline: no control plane is started or asked.
    """
    workspace.check_stack_file()
    settings = _resolved_settings(workspace)  # beside the engine: it takes a second or two
    sandbox.folder.create()
    if workspace.has_resources():
        _ready(sandbox, workspace, report)
    else:
        report(f"Nothing of the stack {workspace.stack} is deployed on this sandbox: an offline preview of all of it")
        workspace.prepare()
    try:
        _run(workspace, ["preview", *_program_flags(workspace), *arguments])
    finally:
        shown, _ = settings.communicate()
        if settings.returncode == 0:  # what is wrong in the file, the program has said
            report(f"Settings of {workspace.stack}, with their defaults:\n{shown}")


def _resolved_settings(workspace: Workspace) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "infra.resolved_settings", workspace.stack, str(workspace.stack_file)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def refresh(sandbox: Sandbox, workspace: Workspace, report: Callable[[str], None], arguments: Sequence[str]) -> None:
    """Bring the state to what the cluster has. Raises as ``up`` does."""
    _ready(sandbox, workspace, report)
    _run(workspace, ["refresh", "--yes", "--skip-preview", "--config-file", str(workspace.config_file), *arguments])


def destroy(sandbox: Sandbox, workspace: Workspace, report: Callable[[str], None], arguments: Sequence[str]) -> None:
    """Delete every resource of the stack; where one is protected, none. Raises as ``up`` does, and then."""
    _ready(sandbox, workspace, report)
    refuse_protected(workspace.stack, workspace.ask(["stack", "export"]))
    # With its preview: what the engine itself would refuse, it then refuses before anything is deleted.
    _run(workspace, ["destroy", "--yes", "--config-file", str(workspace.config_file), *arguments])


def refuse_protected(stack: str, exported_state: str) -> None:
    """Stop where the stack holds protected resources; the engine would name only the first of them.

    Raises:
        SandboxError: something is protected; all of it is named, with what to do.
    """
    resources = json.loads(exported_state)["deployment"].get("resources", [])
    # A component is protected for its children's sake: they say it better.
    protected = [entry["urn"] for entry in resources if entry.get("protect") and entry.get("custom")]
    if protected:
        names = "\n".join(f"  {urn.split('::')[-1]} ({urn.split('::')[-2].split('$')[-1]})" for urn in protected)
        raise SandboxError(
            f"The stack {stack} protects what is stateful or slow to get back, so nothing was deleted:\n{names}\n"
            "If it is really to go: set gpu-inference:protect to false, bring the stack up, then destroy "
            "(docs/runbooks/unprotect.md)."
        )


def _program_flags(workspace: Workspace) -> list[str]:
    flags = ["--config-file", str(workspace.config_file), "--policy-pack", str(REPOSITORY / "policies")]
    levels = REPOSITORY / "policies" / "config" / f"{workspace.stack}.json"
    return [*flags, "--policy-pack-config", str(levels)] if levels.is_file() else flags


def _ready(sandbox: Sandbox, workspace: Workspace, report: Callable[[str], None]) -> None:
    workspace.check_stack_file()
    sandbox.up()
    workspace.prepare()
    for lock in remove_stale(workspace.state, workspace.stack):
        report(f"Removed the lock that a run of {lock.since} (process {lock.pid}) left when it died")
    _adopt_pending_creates(sandbox, workspace, report)


def _adopt_pending_creates(sandbox: Sandbox, workspace: Workspace, report: Callable[[str], None]) -> None:
    state = workspace.ask(["stack", "export"])
    if not has_pending_operations(state):
        return
    with sandbox.api() as api:
        there = {create.urn: create.object_id for create in pending_creates(state) if exists(api, create)}
    there |= pending_in_account(state, Account(sandbox.folder.account))
    under_way = len(pending_urns(state))
    report(f"The last run was cut off: {len(there)} of {under_way} resources under way came to be; they are taken over")
    workspace.replace_state(with_adopted(state, there))
    _run(workspace, ["refresh", "--yes", "--skip-preview", "--config-file", str(workspace.config_file)])


def _run(workspace: Workspace, arguments: Sequence[str]) -> None:
    """Run the CLI on this terminal, wait for its orderly end whatever signal comes, and raise on failure."""
    # Dots of progress are only noise in a log.
    quiet = [] if sys.stdout.isatty() else ["--suppress-progress"]
    process = subprocess.Popen(
        workspace.engine([*arguments, *quiet]),
        env=workspace.environment,
        preexec_fn=_interrupted_with_its_parent,  # noqa: PLW1509 - no thread has been started here
    )

    def pass_on(number: int, _: object) -> None:
        # Ctrl-C reaches the engine by itself (same terminal); a plain kill of this process must too.
        if number == signal.SIGTERM:
            process.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if code:
        raise RunFailedError(code if code > 0 else 128 - code)


def _interrupted_with_its_parent() -> None:
    """In the child: when the parent is killed, be interrupted, so that no run goes on that nobody watches."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
