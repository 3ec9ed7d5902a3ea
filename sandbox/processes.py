"""Start, find and end the sandbox's processes, and never touch another's.

Each process carries a mark in its environment: part, digest of how it was started, folder. The kernel keeps it
(``/proc/<pid>/environ``), so a pid that was reused after a reboot or ``kill -9`` can't be taken for ours, and a process
whose starter was killed before it could note the pid is found all the same. The pid files are for people.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.state_folder import StateFolder

MARK_VARIABLE = "GPU_INFERENCE_SANDBOX_PROCESS"
KILL_SECONDS = 5.0
"""How long the kernel may take to end a process after SIGKILL."""
LOG_TAIL_LINES = 6


@dataclass(frozen=True)
class Process:
    """A running process of one sandbox. ``digest`` tells how it was started, ``started_at`` is Unix time in seconds."""

    part: str
    digest: str
    pid: int
    started_at: float

    @property
    def memory_mib(self) -> float:
        """Resident memory in MiB; 0 when it has ended meanwhile."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            return 0.0
        kib = next((line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")), "0")
        return int(kib) / 1024


def mark(part: str, digest: str, folder: Path) -> str:
    """The value of ``MARK_VARIABLE`` for a process of this folder's sandbox."""
    return f"{part}:{digest}:{folder}"


def running(folder: StateFolder) -> list[Process]:
    """The processes of this folder's sandbox that are alive now (a zombie is not), oldest first."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (process := _ours(int(entry.name), folder.path)):
            found.append(process)
    return sorted(found, key=lambda process: (process.started_at, process.pid))


def _ours(pid: int, folder: Path) -> Process | None:
    proc = Path(f"/proc/{pid}")
    try:
        if proc.stat().st_uid != os.getuid():
            return None
        environment = proc.joinpath("environ").read_bytes()
        # After the program's name in parentheses, which may hold anything, the start time is field 22 - 2.
        start_ticks = int(proc.joinpath("stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    except OSError:  # ended meanwhile, or another user's
        return None
    prefix = f"{MARK_VARIABLE}=".encode()
    for variable in environment.split(b"\0"):
        if variable.startswith(prefix):
            part, digest, marked_folder = os.fsdecode(variable.removeprefix(prefix)).split(":", 2)
            started_at = _boot_time() + start_ticks / os.sysconf("SC_CLK_TCK")
            return Process(part, digest, pid, started_at) if marked_folder == str(folder) else None
    return None


def _boot_time() -> float:
    lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("btime ")))


def start(
    folder: StateFolder, part: str, digest: str, command: Sequence[str], environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start one part in a session of its own, so that it survives this command and its terminal.

    Its environment holds ``environment`` and the mark only: a proxy or etcd setting of the user's shell stays out.

    Raises:
        SandboxError: the program can't be started.
    """
    log = log_file(folder, part)
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    try:
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder.path,
                env={**environment, MARK_VARIABLE: mark(part, digest, folder.path)},
                start_new_session=True,
            )
    except OSError as error:
        raise SandboxError(
            f"{part} can't be started ({command[0]}: {error.strerror}). Build it: make toolchain."
        ) from error
    folder.pids.joinpath(f"{part}.pid").write_text(f"{process.pid}\n", encoding="ascii")
    return process


def stop(folder: StateFolder, processes: Sequence[Process]) -> None:
    """End these processes at once.

    SIGKILL, since none of them has anything to save: etcd writes its log before it answers, and what it wrote is the
    kernel's. The polite way takes the API server 3 s.

    Raises:
        SandboxError: one is still there after ``KILL_SECONDS``.
    """
    for process in _alive(folder, processes):
        _kill(process.pid)
    deadline = time.monotonic() + KILL_SECONDS
    while (stuck := _alive(folder, processes)) and time.monotonic() < deadline:
        time.sleep(0.02)
    if stuck:
        names = ", ".join(f"{process.part} (pid {process.pid})" for process in stuck)
        raise SandboxError(f"These processes can't be ended: {names}. A disk that doesn't answer is the usual reason.")
    for process in processes:
        folder.pids.joinpath(f"{process.part}.pid").unlink(missing_ok=True)


def _alive(folder: StateFolder, processes: Sequence[Process]) -> list[Process]:
    return [process for process in processes if _ours(process.pid, folder.path)]


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def log_file(folder: StateFolder, part: str) -> Path:
    """Where this part writes what it prints; the run before is beside it as ``<part>.previous.log``."""
    return folder.logs / f"{part}.log"


def log_tail(folder: StateFolder, part: str) -> str:
    """The last lines of a part's log, for an error message."""
    lines = log_file(folder, part).read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-LOG_TAIL_LINES:])
