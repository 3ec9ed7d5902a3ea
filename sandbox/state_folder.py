"""The one folder that holds everything of a clone's sandbox: state, logs, pids, certificates, data.

It is ``<repository>/.sandbox`` unless ``GPU_INFERENCE_SANDBOX_DIR`` names another, so two clones never meet. Only a
folder that this module made, known by ``sandbox.json`` in it, is ever deleted.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from sandbox.errors import InputError, SandboxError

FOLDER_VARIABLE = "GPU_INFERENCE_SANDBOX_DIR"
STATE_FILE = "sandbox.json"
OWN_NAMES = frozenset({"certificates", "configuration", "etcd", "kubeconfig", "logs", "pids", "pulumi", STATE_FILE})
"""What may be in a folder that lost its state file and still be taken for a sandbox's."""
MINIMUM_FREE_MIB = 1024
"""etcd preallocates 2 × 64 MB of log; the rest is room for its data, the logs and the Pulumi state."""
LOCK_TIMEOUT_SECONDS = 120.0
"""Longer than any single ``up`` or ``down`` was seen to take."""


class State(BaseModel):
    """What must outlive the command that wrote it. ``boot_id`` is the kernel's boot in which etcd last ran."""

    model_config = ConfigDict(frozen=True)

    ports: dict[str, int] = {}
    boot_id: str = ""


def default_folder() -> Path:
    """The folder of this clone's sandbox, or what ``GPU_INFERENCE_SANDBOX_DIR`` says."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path(__file__).resolve().parents[1] / ".sandbox"


def current_boot_id() -> str:
    """The kernel's id of this boot: it changes with every reboot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


class StateFolder:
    """Paths inside the folder, and the few things done to it as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()  # one folder, one name: processes are known by it
        self.certificates = self.path / "certificates"
        self.configuration = self.path / "configuration"
        self.logs = self.path / "logs"
        self.pids = self.path / "pids"
        self.etcd_data = self.path / "etcd"
        self.pulumi = self.path / "pulumi"
        self.account = self.pulumi / "account.sqlite"
        self.kubeconfig = self.path / "kubeconfig"
        self._state_file = self.path / STATE_FILE

    @property
    def exists(self) -> bool:
        """Whether a sandbox was ever started here and not taken down since."""
        return self._state_file.is_file()

    def create(self) -> None:
        """Make the folder, readable by its owner only.

        Raises:
            InputError: it holds other files, can't be written, or its disk is nearly full.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            foreign = sorted({entry.name for entry in self.path.iterdir()} - OWN_NAMES)
            if foreign and not self.exists:
                raise InputError(
                    f"{self.path} holds files that are not a sandbox's ({', '.join(foreign[:3])}). "
                    f"Name an empty or a new folder in {FOLDER_VARIABLE}."
                )
            self.path.chmod(0o700)
            for folder in (self.configuration, self.logs, self.pids):
                folder.mkdir(exist_ok=True)
            self._check_space()
            if not self.exists:
                self.write_state(State())
        except OSError as error:
            raise InputError(
                f"The sandbox's folder {self.path} can't be written: {error.strerror or error}. "
                f"Free it, or name another folder in {FOLDER_VARIABLE}."
            ) from error

    def _check_space(self) -> None:
        free_mib = shutil.disk_usage(self.path).free // 2**20
        if free_mib < MINIMUM_FREE_MIB:
            raise InputError(
                f"The disk of {self.path} has {free_mib} MiB free; the sandbox needs {MINIMUM_FREE_MIB} MiB. "
                f"Free some, or name a folder on another disk in {FOLDER_VARIABLE}."
            )

    def read_state(self) -> State:
        """What was written last; an empty state where there is none or it is damaged (it is all rebuilt then)."""
        try:
            return State.model_validate_json(self._state_file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValidationError):
            return State()

    def write_state(self, state: State) -> None:
        """Replace the state in one step, so that a killed writer leaves the old one."""
        write_private(self._state_file, json.dumps(state.model_dump(), indent=2) + "\n")

    def forget_cluster(self) -> None:
        """Delete the cluster's data, and the Pulumi state that describes it."""
        for folder in (self.etcd_data, self.pulumi):
            shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Delete the folder; the state file goes last, so that a killed ``down`` can be run again.

        Where the state file is lost, only what a sandbox makes is deleted, and the folder if nothing else is in it.

        Raises:
            SandboxError: something in it can't be deleted.
        """
        everything = self.exists
        try:
            for entry in list(self.path.iterdir()):
                if entry == self._state_file or not (everything or entry.name in OWN_NAMES):
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
            self._state_file.unlink(missing_ok=True)
            if not any(self.path.iterdir()):
                self.path.rmdir()
        except OSError as error:
            raise SandboxError(
                f"{error.filename} can't be deleted: {error.strerror}. Delete {self.path} by hand."
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one command at a time; the kernel frees it when its holder dies.

        The lock is on the folder itself, so nothing is left behind. A waiter whose folder was deleted meanwhile (by
        ``down``) makes a new one.

        Raises:
            SandboxError: another command has held it for ``LOCK_TIMEOUT_SECONDS``.
        """
        deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
        while True:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            except OSError as error:
                raise InputError(
                    f"The sandbox's folder {self.path} can't be used: {error.strerror}. "
                    f"Free it, or name another folder in {FOLDER_VARIABLE}."
                ) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_still(descriptor):
                    yield
                    return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SandboxError(
                        f"Another sandbox command has been using {self.path} for {LOCK_TIMEOUT_SECONDS:.0f} s. "
                        "Wait for it, or end it, then try again."
                    ) from None
                time.sleep(0.1)
            finally:
                os.close(descriptor)

    def _is_still(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read (mode 0600), whole or not at all."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)
