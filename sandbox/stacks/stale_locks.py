"""Locks of runs that are dead. Only on the sandbox's own backend: on a real one a person decides (docs/runbooks)."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError


@dataclass(frozen=True)
class Lock:
    """A lock file of the engine's file backend, and who holds it."""

    file: Path
    pid: int
    host: str
    since: str


def locks(state: Path, stack: str) -> Iterator[Lock]:
    """The locks on ``stack`` in the file backend at ``state``; a file that can't be read has pid 0."""
    for file in sorted(state.glob(f".pulumi/locks/**/{stack}/*.json")):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            yield Lock(file, int(content["pid"]), str(content["hostname"]), str(content["timestamp"]))
        except (ValueError, KeyError, TypeError):
            yield Lock(file, 0, socket.gethostname(), "an unknown time")  # cut off while it was written


def remove_stale(state: Path, stack: str) -> list[Lock]:
    """Delete the locks whose holder is gone, and return them.

    Raises:
        SandboxError: a lock's holder lives: another run is under way.
    """
    found = list(locks(state, stack))
    for lock in found:
        if _holder_lives(lock):
            raise SandboxError(
                f"Another run on this stack is under way: process {lock.pid}, since {lock.since}. "
                "Wait for it, or end it with Ctrl-C where it runs."
            )
    for lock in found:
        lock.file.unlink(missing_ok=True)
    return found


def _holder_lives(lock: Lock) -> bool:
    if lock.host != socket.gethostname():
        return False  # a copied folder: no process of another host works on this one
    try:
        name = Path(f"/proc/{lock.pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return False
    return name == "pulumi" and lock.pid != os.getpid()  # a reused pid is some other program
