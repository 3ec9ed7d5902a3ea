"""``python -m report render LOG…``: a preview's event log in, the pull request's comment out.

Exit codes: 0 the check passes, 1 it fails (the comment says why), 2 the input is wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from report.acknowledgements import acknowledged_lines
from report.comment import comment
from report.errors import InputError, ReportError
from report.events import read_preview
from report.judgement import judge

application = typer.Typer(help="What a pull request does to the stacks.", no_args_is_help=True, add_completion=False)
_CHECK_FAILS = 1


@application.callback()
def _commands() -> None:
    """What a pull request does to the stacks."""


@application.command()
def render(
    logs: Annotated[
        list[Path], typer.Argument(help="Event logs of previews, one a stack (pulumi preview --event-log).")
    ],
    acknowledged: Annotated[
        Path | None, typer.Option(help="A file with the pull request's description, for its `acknowledge:` lines.")
    ] = None,
    commit: Annotated[str, typer.Option(help="The commit that was previewed, to be named in the comment.")] = "",
) -> None:
    """Print the comment; exit code 1 where a stack fails the check."""
    lines = acknowledged_lines(_description(acknowledged)) if acknowledged else frozenset()
    judgements = [judge(preview, lines) for preview in map(read_preview, logs)]
    typer.echo(comment(judgements, commit), nl=False)
    if any(judgement.problems for judgement in judgements):
        raise typer.Exit(_CHECK_FAILS)


def _description(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror}.") from error


def main() -> None:
    """Run a command; an error is one message for people, never a traceback."""
    try:
        application()
    except ReportError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
