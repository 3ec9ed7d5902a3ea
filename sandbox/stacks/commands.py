"""The commands that run a stack on the sandbox: ``deploy``, ``preview``, ``refresh``, ``destroy``, ``pulumi``."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Annotated, Literal

import typer

from sandbox.control_plane import Sandbox
from sandbox.errors import InputError, SandboxError
from sandbox.stacks import doctor, real_runs, runs, state_backend
from sandbox.stacks.summary import closing_summary
from sandbox.stacks.workspace import Workspace

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
Stack = Annotated[str, typer.Option(help="The stack: stacks/Pulumi.<stack>.yaml.")]
RealVerb = Literal["preview", "up", "refresh", "destroy"]
Say = Callable[[str], None]


def add_stack_commands(application: typer.Typer, say: Say) -> None:
    """Add the commands to the sandbox's application. What follows ``--`` goes to the engine as it is."""

    @application.command(context_settings=_PASS_ON)
    def deploy(context: typer.Context, stack: Stack = "sandbox") -> None:
        """Bring the sandbox up and deploy a stack on it, with the policy pack."""
        sandbox, workspace = _surroundings(stack, say)
        runs.up(sandbox, workspace, say, context.args)
        say(closing_summary(sandbox, workspace))

    @application.command(context_settings=_PASS_ON)
    def preview(context: typer.Context, stack: Stack = "sandbox") -> None:
        """Show what `deploy` would change, with the policy pack's verdicts."""
        runs.preview(*_surroundings(stack, say), say, context.args)

    @application.command(context_settings=_PASS_ON)
    def refresh(context: typer.Context, stack: Stack = "sandbox") -> None:
        """Bring the stack's state to what the cluster really has."""
        runs.refresh(*_surroundings(stack, say), say, context.args)

    @application.command(context_settings=_PASS_ON)
    def destroy(context: typer.Context, stack: Stack = "sandbox") -> None:
        """Delete every resource of the stack; the sandbox itself stays up."""
        runs.destroy(*_surroundings(stack, say), say, context.args)

    @application.command("on-aws", context_settings=_PASS_ON)
    def on_aws(
        context: typer.Context,
        verb: Annotated[RealVerb, typer.Argument(help="What to do.")],
        stack: Annotated[str, typer.Option(help="The stack: stacks/Pulumi.<stack>.yaml.")],
    ) -> None:
        """Run a stack against AWS itself, with real credentials and the official plugins: no sandbox, no stand-in."""
        sandbox, workspace = _surroundings(stack, say)
        real_runs.run(verb, stack, workspace.config(), sandbox.folder, context.args)

    @application.command("doctor")
    def check_aws(stack: Annotated[str, typer.Option(help="The stack: stacks/Pulumi.<stack>.yaml.")]) -> None:
        """Check what a run against AWS needs, read-only; exit code 1 where something is missing."""
        sandbox, workspace = _surroundings(stack, say)
        config = workspace.config()
        found = [doctor.Finding("problem", text) for text in real_runs.problems(config, os.environ, sandbox.folder)]
        found += doctor.findings(config, doctor.ask_aws)
        for finding in found:
            say(f"{finding.verdict + ':':13}{finding.sentence}")
        if any(finding.verdict == "problem" for finding in found):
            raise SandboxError(f"{stack} can't be deployed to AWS like this.")

    @application.command()
    def backend(
        stack: Annotated[str, typer.Option(help="The stack whose account and region are meant.")],
        yes: Annotated[bool, typer.Option("--yes", help="Don't ask before making anything.")] = False,
    ) -> None:
        """Prepare a bucket and a KMS key in AWS for the team's Pulumi state, once."""
        _, workspace = _surroundings(stack, say)
        aws = workspace.config().get("gpu-inference:aws") or {}
        try:
            account = str(doctor.ask_aws(["sts", "get-caller-identity"])["Account"])
            if account not in map(str, aws.get("allowed_account_ids") or []):
                raise InputError(f"Your credentials are for account {account}, which the stack {stack} does not allow.")
            region = str(aws["region"])
            if not yes:
                typer.confirm(f"Make a state bucket and a KMS key in account {account}, {region}?", abort=True)
            made = state_backend.prepare(account, region, doctor.ask_aws, say)
        except doctor.CliError as error:
            raise SandboxError(f"AWS refuses: {error}") from error
        say(f"pulumi login '{made.url}'")
        say(f"pulumi stack init {stack} --secrets-provider '{made.secrets_provider}'")

    @application.command(context_settings=_PASS_ON)
    def pulumi(context: typer.Context, stack: Stack = "sandbox") -> None:
        """Run another command of the CLI on the stack's state, e.g. `pulumi -- stack output`."""
        _, workspace = _surroundings(stack, say)
        workspace.prepare()
        command = workspace.engine(context.args, in_project=True)
        raise typer.Exit(subprocess.run(command, env=workspace.environment, check=False).returncode)


def _surroundings(stack: str, say: Say) -> tuple[Sandbox, Workspace]:
    sandbox = Sandbox(report=say)
    return sandbox, Workspace(sandbox.folder, stack)
