"""`python -m toolchain`: build, list, find and clean the tools."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from toolchain import build, cache, installed, tools
from toolchain.errors import ToolchainError

app = typer.Typer(
    help="Builds the pinned engine and control plane from the Go module proxy into your cache folder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command("build")
def build_tools(
    names: Annotated[list[str] | None, typer.Argument(metavar="[TOOL]...", help="Which tools; all without.")] = None,
) -> None:
    """Build what is missing."""
    wanted = names or [tool.name for tool in tools.TOOLS]
    for name, folder in installed.ensure(wanted).items():
        typer.echo(f"{name}: {folder}")


@app.command("list")
def list_tools() -> None:
    """List the tools, and which are built with the present pins."""
    go = build.go_facts()
    table = Table("tool", "what it is", "built", box=None, pad_edge=False)
    for tool in tools.TOOLS:
        folder = cache.entry(tool, go)
        built = f"{cache.size_mib(folder):.0f} MiB" if folder.exists() else "no"
        table.add_row(tool.name, tool.summary, built)
    console = Console()
    console.print(table)
    console.print(f"cache: {cache.root()}", highlight=False, soft_wrap=True)


@app.command("path")
def path(name: Annotated[str, typer.Argument(metavar="TOOL", help="A tool, or an executable such as etcd.")]) -> None:
    """Print where an executable, or else a tool's folder, is; build it first if needed."""
    executables = {executable for tool in tools.TOOLS for executable in tool.executables}
    typer.echo(installed.executable(name) if name in executables else installed.ensure([name])[name])


@app.command("prune")
def prune() -> None:
    """Remove what the present pins don't need."""
    build.prune(Console())


def main() -> None:
    """Runs the command; an error that people can act on ends it with exit code 2 and no traceback."""
    try:
        app()
    except ToolchainError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
