"""What a pull request does to the stacks: ``python -m report render | against-base | end | publish``.

Exit codes: 0 the check passes, 1 it fails (the comment says why), 2 the input is wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from report.acknowledgements import acknowledged_lines
from report.against_base import end as end_sandbox
from report.against_base import record
from report.comment import comment
from report.errors import InputError, ReportError
from report.events import Preview, read_preview
from report.github import GitHub
from report.judgement import judge
from report.untrusted_logs import read_folder

application = typer.Typer(help="What a pull request does to the stacks.", no_args_is_help=True, add_completion=False)
_CHECK_FAILS = 1


Acknowledged = Annotated[
    Path | None, typer.Option(help="A file with the pull request's description, for its `acknowledge:` lines.")
]


@application.command()
def render(
    logs: Annotated[
        list[Path], typer.Argument(help="Event logs of previews, one a stack (pulumi preview --event-log).")
    ],
    acknowledged: Acknowledged = None,
    commit: Annotated[str, typer.Option(help="The commit that was previewed, to be named in the comment.")] = "",
) -> None:
    """Print the comment; exit code 1 where a stack fails the check."""
    _print_comment(list(map(read_preview, logs)), acknowledged, commit)


@application.command()
def against_base(
    stack: Annotated[str, typer.Option(help="The stack: stacks/Pulumi.<stack>.yaml.")] = "sandbox",
    base: Annotated[str | None, typer.Option(help="A commit; without it, where this branch left main.")] = None,
    acknowledged: Acknowledged = None,
) -> None:
    """Preview the working tree against its base on a sandbox of its own, and print the comment as `render` does."""
    _print_comment([read_preview(record(stack, base or None))], acknowledged, "")


@application.command()
def end() -> None:
    """Take down what `against-base` left running, and delete its folder."""
    end_sandbox()


@application.command()
def publish(
    folder: Annotated[Path, typer.Argument(help="Where the artifact with the event logs was unpacked.")],
    event: Annotated[Path, typer.Option(envvar="GITHUB_EVENT_PATH", help="The event of the workflow_run.")],
    repository: Annotated[str, typer.Option(envvar="GITHUB_REPOSITORY", help="owner/name.")],
    api_url: Annotated[str, typer.Option(envvar="GITHUB_API_URL", help="GitHub's REST API.")],
    token: Annotated[str, typer.Option(envvar="GITHUB_TOKEN", help="With pull-requests: write.", show_default=False)],
) -> None:
    """Post the comment of a finished workflow run to its pull request, or write it anew. Only for trusted code."""
    run = json.loads(event.read_text(encoding="utf-8"))["workflow_run"]
    github = GitHub(api_url, repository, token)
    previews = read_folder(folder)
    for pull_request in github.pull_requests(run):
        lines = acknowledged_lines(pull_request.description)
        judgements = [judge(preview, lines) for preview in previews]
        github.put_comment(pull_request.number, comment(judgements, run["head_sha"], run["html_url"]))


def _print_comment(previews: list[Preview], acknowledged: Path | None, commit: str) -> None:
    lines = acknowledged_lines(_description(acknowledged)) if acknowledged else frozenset()
    judgements = [judge(preview, lines) for preview in previews]
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
