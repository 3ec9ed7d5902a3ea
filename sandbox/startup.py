"""Bring the processes to what they should be: end what is outdated, keep what is well, start the rest in order."""

from __future__ import annotations

import os
import ssl
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

from sandbox import health
from sandbox.errors import SandboxError
from sandbox.parts import Part
from sandbox.processes import log_file, log_tail, running, start, stop
from sandbox.state_folder import State, StateFolder, current_boot_id

STAGES = (("etcd",), ("kube-apiserver",), ("kube-controller-manager", "kube-scheduler", "kwok"))
"""Each stage needs the one before it; the parts of one stage start together."""
START_TIMEOUT_SECONDS = 60.0
"""For a cold disk on a busy machine; two idle cores need a tenth of it for the whole control plane."""
RECOVERY_SECONDS = 10.0
"""How long a part that still runs has to become healthy once what it needs is back, before it is started anew."""


class PartEndedError(SandboxError):
    """A part ended by itself soon after its start."""


def bring_up(folder: StateFolder, parts: Sequence[Part], report: Callable[[str], None]) -> None:
    """Have exactly these parts running and healthy.

    Raises:
        SandboxError: a part ends, or is not healthy in time; the message holds the last lines of its log.
    """
    kept = _end_outdated(folder, parts)
    contexts = health.tls_contexts(folder.certificates)
    for names in STAGES:
        stage = [part for part in parts if part.name in names]
        started = {part.name: _start(folder, part, report) for part in stage if part.name not in kept}
        for part in stage:
            try:
                _settle(folder, part, started.get(part.name), contexts, report)
            except PartEndedError:
                if part.name != "etcd" or not _lost_in_reboot(folder):
                    raise
                report("etcd's data did not survive the reboot: starting with an empty cluster. Deploy again: make up")
                folder.forget_cluster()
                _settle(folder, part, _start(folder, part, report), contexts, report)
        if "etcd" in names:
            folder.write_state(State(ports=folder.read_state().ports, boot_id=current_boot_id()))


def _end_outdated(folder: StateFolder, parts: Sequence[Part]) -> set[str]:
    """End processes that run with other settings, or twice. Returns the names of the parts that stay."""
    wanted = {part.name: part.digest for part in parts}
    kept: set[str] = set()
    outdated = []
    for process in running(folder):
        if process.digest == wanted.get(process.part) and process.part not in kept:
            kept.add(process.part)
        else:
            outdated.append(process)
    stop(folder, outdated)
    return kept


def _start(folder: StateFolder, part: Part, report: Callable[[str], None]) -> subprocess.Popen[bytes]:
    report(f"Starting {part.name}")
    # HOME and PATH are all that these programs look up; anything else of the user's shell stays out.
    environment = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    return start(folder, part.name, part.digest, part.command, environment)


def _settle(
    folder: StateFolder,
    part: Part,
    started: subprocess.Popen[bytes] | None,
    contexts: Mapping[str, ssl.SSLContext],
    report: Callable[[str], None],
) -> None:
    """Wait until the part is healthy; one that was running before and hangs is started anew."""
    if started is None:
        if _healthy_within(RECOVERY_SECONDS, part, None, contexts):
            return
        report(f"{part.name} runs but is not healthy")
        stop(folder, [process for process in running(folder) if process.part == part.name])
        started = _start(folder, part, report)
    if _healthy_within(START_TIMEOUT_SECONDS, part, started, contexts):
        return
    if started.poll() is not None:
        raise PartEndedError(
            f"{part.name} ended with exit code {started.returncode} right after its start. Its last words:\n"
            f"{log_tail(folder, part.name)}\nThe whole log: {log_file(folder, part.name)}. "
            "A clean start: python -m sandbox down, then up."
        )
    problem = health.problem(part, contexts[part.name])
    raise SandboxError(
        f"{part.name} is not healthy after {START_TIMEOUT_SECONDS:.0f} s: it {problem}. "
        f"Its log: {log_file(folder, part.name)}."
    )


def _healthy_within(
    seconds: float, part: Part, started: subprocess.Popen[bytes] | None, contexts: Mapping[str, ssl.SSLContext]
) -> bool:
    """Whether the part becomes healthy in this time; False at once when the process that was started ends."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if health.problem(part, contexts[part.name]) is None:
            return True
        if started is not None and started.poll() is not None:
            return False
        time.sleep(0.05)
    return False


def _lost_in_reboot(folder: StateFolder) -> bool:
    """Whether etcd's data was last written before this boot: without fsync a power cut can leave it unreadable."""
    return folder.etcd_data.is_dir() and folder.read_state().boot_id not in ("", current_boot_id())
