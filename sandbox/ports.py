"""Loopback ports: kept from start to start, moved only when another program has taken one."""

from __future__ import annotations

import socket
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from sandbox.errors import SandboxError

LOOPBACK = "127.0.0.1"
PORT_NAMES = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
FIRST_PORT = 20000
LAST_PORT = 29999
"""Below 32768, where Linux begins to hand out ports to outgoing connections: those would take ours while it is down."""

RELEASE_SECONDS = 2.0
"""How long ``up`` waits for a port of its own to be released before it gives the port up."""


def is_free(port: int) -> bool:
    """Whether no program listens on this loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # On Linux this ignores closed connections that linger, and still fails where a program listens.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def wait_until_free(ports: Collection[int]) -> None:
    """Wait a moment for ports whose owner was just killed: the kernel may still be closing its sockets."""
    deadline = time.monotonic() + RELEASE_SECONDS
    while not all(map(is_free, ports)) and time.monotonic() < deadline:
        time.sleep(0.05)


def settle(
    saved: Mapping[str, int], held: Collection[str], folder: Path, free: Callable[[int], bool] = is_free
) -> dict[str, int]:
    """One port for each of ``PORT_NAMES``.

    A saved port is kept where its own part still runs (its name is in ``held``) or nobody listens on it. New ports are
    looked for from a place that depends on the folder, so that two clones seldom try the same ones.

    Raises:
        SandboxError: no free port is left in the range.
    """
    kept = {name: saved[name] for name in PORT_NAMES if name in saved and (name in held or free(saved[name]))}
    count = LAST_PORT - FIRST_PORT + 1
    start = zlib.crc32(str(folder).encode())
    candidates = (FIRST_PORT + (start + offset) % count for offset in range(count))
    unused = (port for port in candidates if port not in saved.values() and free(port))
    try:
        return {name: kept[name] if name in kept else next(unused) for name in PORT_NAMES}
    except StopIteration:
        raise SandboxError(
            f"No free loopback port between {FIRST_PORT} and {LAST_PORT}. End programs that listen there and try again."
        ) from None
