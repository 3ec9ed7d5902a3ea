"""One build at a time for all processes of this user, also when one of them is killed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toolchain.errors import ToolchainError


@contextmanager
def exclusive(path: Path, on_wait: Callable[[str], None]) -> Iterator[int]:
    """Holds the lock file while the block runs and yields its descriptor; `on_wait` hears who holds it if we must wait.
    Raises ToolchainError where the file can't be made.

    The kernel frees the lock when its last holder ends, so a dead process never leaves it behind. Hand the descriptor
    on to a child (`pass_fds`), and the lock also outlives our own sudden end until that child is done: a `go build`
    whose parent was killed never runs beside a second one. The `filelock` package hides the descriptor that this needs.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ToolchainError(
            f"The toolchain's cache {path.parent} can't be written: {error.strerror}.",
            "Make it writable, or set XDG_CACHE_HOME to a folder that is.",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait(os.pread(descriptor, 32, 0).decode().strip() or "unknown")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)
