"""The variables that point a shell's tools at the sandbox. The one place to add to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from sandbox.stacks.workspace import engine_environment
from sandbox.state_folder import StateFolder


def sandbox_environment(folder: StateFolder) -> dict[str, str]:
    """What ``python -m sandbox env`` exports: kubectl's variable, and what makes ``pulumi`` use the sandbox's backend.

    Enough to look at a stack. Runs that change one go through ``python -m sandbox``, which keeps the stack file clean.
    """
    engine = engine_environment(folder)
    shown = {name: engine[name] for name in sorted(engine) if name.startswith("PULUMI_") or name == "PATH"}
    return {"KUBECONFIG": str(folder.kubeconfig), **shown}


def shell_exports(variables: Mapping[str, str]) -> str:
    """The variables as lines for a POSIX shell's ``eval``."""
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
