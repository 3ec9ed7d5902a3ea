"""Where the engine keeps things for the sandbox, and how a stack file is handed to it without being written to.

All of it lies under ``<sandbox folder>/pulumi``: ``home`` (plugins), ``state`` (the file backend) and ``project``, a
bare project of the same name. A stack is created there, because the CLI writes the encryption salt of a new stack
into the stack file, and the file in the repository is the team's. Every run gets a copy of it, with the salt.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from sandbox.cloud import plugins
from sandbox.errors import InputError, SandboxError
from sandbox.state_folder import StateFolder, write_private
from toolchain.installed import prepare_pulumi_home, pulumi_cli

REPOSITORY = Path(__file__).resolve().parents[2]
# Opens nothing: stack files hold no secret, but the engine wants a passphrase for every file backend.
PASSPHRASE = "sandbox"  # noqa: S105
_ENCRYPTION_KEYS = frozenset({"secretsprovider", "encryptedkey", "encryptionsalt"})


def engine_environment(folder: StateFolder) -> dict[str, str]:
    """The environment of the CLI: the sandbox's own backend and plugins, whatever the shell says."""
    home = folder.pulumi / "home"
    environment = prepare_pulumi_home(home)
    plugins.install(home, folder)
    return environment | {
        "PULUMI_BACKEND_URL": (folder.pulumi / "state").as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
    }


class Workspace:
    """The engine's surroundings for one stack on the sandbox."""

    def __init__(self, folder: StateFolder, stack: str, stack_file: Path | None = None) -> None:
        self.stack = stack
        self.stack_file = stack_file or REPOSITORY / "stacks" / f"Pulumi.{stack}.yaml"
        self.state = folder.pulumi / "state"
        self.project = folder.pulumi / "project"
        self.config_file = folder.pulumi / "stacks" / f"Pulumi.{stack}.yaml"
        self._folder = folder
        self._salted = self.project / f"Pulumi.{stack}.yaml"
        self.environment: dict[str, str] = {}

    def prepare(self) -> None:
        """Make the folders, the copy of the stack file, and the stack where it is missing.

        Raises:
            InputError: there is no such stack file, or it is no YAML.
            SandboxError: the engine refuses to create the stack; its words are in the message.
        """
        document = self._stack_document()
        for made in (self.state, self.project, self.config_file.parent):
            made.mkdir(parents=True, exist_ok=True)
        self.environment = engine_environment(self._folder)
        project = yaml.safe_load((REPOSITORY / "Pulumi.yaml").read_text(encoding="utf-8"))
        bare = {"name": project["name"], "runtime": "python"}
        (self.project / "Pulumi.yaml").write_text(yaml.safe_dump(bare), encoding="utf-8")
        if not self._salted.is_file() or self.stack not in self._known_stacks():
            self._salted.unlink(missing_ok=True)
            self._create()
        document["encryptionsalt"] = yaml.safe_load(self._salted.read_text(encoding="utf-8"))["encryptionsalt"]
        write_private(self.config_file, yaml.safe_dump(document, sort_keys=False))

    def config(self) -> dict[str, Any]:
        """What stands under ``config:`` in the stack file; raises InputError as ``check_stack_file`` does."""
        return dict(self._stack_document()["config"])

    def check_stack_file(self) -> None:
        """Raise InputError where the stack file is not there or can't be read; nothing else is touched."""
        self._stack_document()

    def engine(self, arguments: Sequence[str], *, in_project: bool = False) -> list[str]:
        """The command line of the CLI; ``in_project`` for commands that need no program (export, cancel, output)."""
        place = self.project if in_project else REPOSITORY
        # Without a terminal nobody answers, and dots of progress are only noise in a log.
        quiet = [] if sys.stdout.isatty() else ["--non-interactive"]
        return [str(pulumi_cli().path), "-C", str(place), *quiet, *arguments, "--stack", self.stack]

    def ask(self, arguments: Sequence[str], *, check: bool = True) -> str:
        """Run a command that answers quickly and needs no program; its standard output.

        Raises:
            SandboxError: it fails; the engine's words are in the message.
        """
        command = self.engine(arguments, in_project=True)
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise SandboxError(f"pulumi {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def replace_state(self, exported: str) -> None:
        """Put this in the place of the stack's state, as ``stack import`` does. Only ever the sandbox's own state.

        Raises:
            SandboxError: the engine refuses it; its words are in the message.
        """
        file = self.project / "state-to-import.json"
        write_private(file, exported)
        try:
            self.ask(["stack", "import", "--file", str(file)])
        finally:
            file.unlink(missing_ok=True)

    @property
    def _shown_file(self) -> Path:
        inside = self.stack_file.is_relative_to(REPOSITORY)
        return self.stack_file.relative_to(REPOSITORY) if inside else self.stack_file

    def has_resources(self) -> bool:
        """Whether anything of the stack is deployed on this sandbox, or was being deployed."""
        for file in self.state.glob(f".pulumi/stacks/*/{self.stack}.json"):
            latest = json.loads(file.read_text(encoding="utf-8"))["checkpoint"].get("latest") or {}
            return bool(latest.get("resources") or latest.get("pending_operations"))
        return False

    def _stack_document(self) -> dict[str, Any]:
        if not self.stack_file.is_file():
            known = sorted(path.name.split(".")[1] for path in self.stack_file.parent.glob("Pulumi.*.yaml"))
            raise InputError(
                f"There is no stack {self.stack!r}: no file {self._shown_file}. There are: {', '.join(known)}."
            )
        try:
            document = yaml.safe_load(self.stack_file.read_text(encoding="utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise InputError(f"{self._shown_file} is no YAML: {error}") from error
        if not isinstance(document, dict) or not isinstance(document.get("config"), dict):
            raise InputError(f"{self._shown_file} has no `config:` with values under it.")
        # What encrypts the team's state: nobody needs that key or passphrase here, where no value is encrypted.
        return {key: value for key, value in document.items() if key not in _ENCRYPTION_KEYS}

    def _known_stacks(self) -> set[str]:
        return {path.stem for path in self.state.glob(".pulumi/stacks/*/*.json")}

    def _create(self) -> None:
        command = [str(pulumi_cli().path), "-C", str(self.project), "--non-interactive", "stack", "init", self.stack]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SandboxError(f"The engine can't create the stack {self.stack}: {done.stderr.strip()}")
