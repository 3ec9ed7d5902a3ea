"""The variables that point a shell's tools at the sandbox. The one place to add to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from sandbox.state_folder import StateFolder


def sandbox_environment(folder: StateFolder) -> dict[str, str]:
    """What ``python -m sandbox env`` exports."""
    return {"KUBECONFIG": str(folder.kubeconfig)}


def shell_exports(variables: Mapping[str, str]) -> str:
    """The variables as lines for a POSIX shell's ``eval``."""
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
