"""Commands of the sandbox: ``python -m sandbox up | status | down | env | kubeconfig``.

Exit codes: 0 done (``status``: healthy), 1 it failed or is not healthy, 2 the input is wrong.
"""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from sandbox.control_plane import Sandbox
from sandbox.environment import sandbox_environment, shell_exports
from sandbox.errors import SandboxError
from sandbox.report import SIMULATED, status_report
from sandbox.stacks.commands import add_stack_commands
from toolchain.errors import ToolchainError

application = typer.Typer(
    help="A local Kubernetes control plane with simulated GPU nodes.", no_args_is_help=True, add_completion=False
)
PIPE_WIDTH = 120
"""Columns where the output is no terminal, such as in a CI log."""

output = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def _say(sentence: str) -> None:
    output.print(escape(sentence), soft_wrap=True)


@application.command()
def up() -> None:
    """Start the sandbox, or repair it. Its nodes come with the node groups of a deployed stack."""
    started = time.monotonic()
    sandbox = Sandbox(report=_say)
    sandbox.up()
    seconds = time.monotonic() - started
    _say(f"The sandbox is up after {seconds:.1f} s. Kubeconfig: {sandbox.kubeconfig}")
    _say(f"Simulated: {SIMULATED}")


@application.command()
def status() -> None:
    """Show the parts, the nodes, and what is real; exit code 0 only when all is healthy."""
    found = Sandbox().status()
    output.print(status_report(found))
    if not found.healthy:
        raise SandboxError("The sandbox is not healthy. Start or repair it: python -m sandbox up.")


@application.command()
def down(
    keep_data: Annotated[
        bool, typer.Option("--keep-data", help="Keep the cluster's data, so that the next up goes on with it.")
    ] = False,
) -> None:
    """End the sandbox's processes and delete its folder, with the cluster and the Pulumi state that describes it."""
    Sandbox(report=_say).down(keep_data=keep_data)


@application.command()
def env() -> None:
    """Print shell exports that point kubectl and Pulumi at the sandbox: eval "$(python -m sandbox env)"."""
    typer.echo(shell_exports(sandbox_environment(_existing().folder)))


@application.command()
def kubeconfig() -> None:
    """Print the path of the administrator's kubeconfig."""
    typer.echo(_existing().kubeconfig)


def _existing() -> Sandbox:
    sandbox = Sandbox()
    if not sandbox.kubeconfig.is_file():
        raise SandboxError(f"No sandbox is up in {sandbox.folder.path}. Start it: python -m sandbox up.")
    return sandbox


add_stack_commands(application, _say)


def _complain(error: Exception) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]Error:[/red] {escape(str(error))}")


def main() -> None:
    """Run a command; an error is one message for people, never a traceback."""
    try:
        application()
    except SandboxError as error:
        if str(error):  # the engine has said itself why a run failed
            _complain(error)
        sys.exit(error.exit_code)
    except (ToolchainError, OSError) as error:  # a tool can't be built; a full disk, a file that can't be written
        _complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
