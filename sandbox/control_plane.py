"""The sandbox as a whole: bring it up, repair it, look at it, take it down.

``up`` compares what should run with what runs, and changes only what differs; so the first start, a repair after
``kill -9`` or a reboot, and an ``up`` of a healthy sandbox are all the same code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox import certificates, health, nodes, ports
from sandbox.api import Api, Object
from sandbox.autoscaling import scaled_objects_served
from sandbox.errors import SandboxError
from sandbox.kubeconfig import kubeconfig
from sandbox.parts import API_CLIENTS, PART_NAMES, kubeconfig_file, parts, stages_file
from sandbox.processes import Process, running, stop
from sandbox.stages import kwok_configuration
from sandbox.startup import bring_up
from sandbox.state_folder import State, StateFolder, default_folder, write_private
from sandbox.storage import apply_storage_class
from toolchain.installed import ensure, executable, kwok_stage_files

TOOLS = ("etcd", "kubernetes", "kwok")


@dataclass(frozen=True)
class PartStatus:
    """One part as ``status`` shows it: ``problem`` is None when healthy, ``process`` None when not running."""

    name: str
    port: int | None
    process: Process | None
    problem: str | None


@dataclass(frozen=True)
class Status:
    """The sandbox at one moment. ``nodes`` are the ``v1.Node`` objects; empty when the API server doesn't answer."""

    parts: tuple[PartStatus, ...]
    nodes: tuple[Object, ...]

    @property
    def healthy(self) -> bool:
        """Whether every part is healthy and every node Ready."""
        return all(part.problem is None for part in self.parts) and all(map(nodes.is_ready, self.nodes))

    @property
    def memory_mib(self) -> float:
        """Resident memory of all parts together."""
        return sum(part.process.memory_mib for part in self.parts if part.process)


def _silent(_: str) -> None:
    """The reporter of callers that want no progress."""


class Sandbox:
    """The sandbox in one folder. ``report`` is called with a sentence for each step and each thing worth knowing."""

    def __init__(self, folder: Path | None = None, report: Callable[[str], None] = _silent) -> None:
        self.folder = StateFolder(folder or default_folder())
        self._report = report

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig; it is there once the sandbox was up."""
        return self.folder.kubeconfig

    def up(self) -> None:
        """Start what is missing and repair what is broken. Nodes come with node groups, when a stack is deployed.

        Raises:
            InputError: the folder can't be used.
            SandboxError: a part does not start (the message holds its last words).
        """
        require_linux()
        ensure(TOOLS)
        with self.folder.locked():
            self.folder.create()
            certificates.ensure(self.folder.certificates)
            settled = self._settled_ports()
            self._write_kubeconfigs(settled["kube-apiserver"])
            wanted = parts(self.folder, settled, executable)
            # Which stages KWOK can play, only the cluster knows: after a reboot, not before its API server is back.
            self._write_stages()
            bring_up(self.folder, wanted, self._report)
            if self._write_stages():
                bring_up(self.folder, wanted, self._report)
            with self.api() as api:
                apply_storage_class(api)

    def down(self, *, keep_data: bool = False) -> None:
        """End every process of this sandbox and delete its folder; ``keep_data`` leaves it for the next ``up``.

        Raises:
            SandboxError: a process can't be ended or the folder not be deleted.
        """
        require_linux()
        if not self.folder.exists and not running(self.folder):
            self._report(f"No sandbox in {self.folder.path}: nothing to take down")
            return
        with self.folder.locked():
            stop(self.folder, running(self.folder))
            if not keep_data:
                self.folder.remove()

    def status(self) -> Status:
        """Look at everything, change nothing."""
        require_linux()
        processes = {process.part: process for process in running(self.folder)}
        saved = self.folder.read_state().ports
        if not (set(ports.PORT_NAMES) <= set(saved) and self.folder.certificates.is_dir()):
            unknown = (PartStatus(name, None, processes.get(name), "not started") for name in PART_NAMES)
            return Status(tuple(unknown), ())
        contexts = health.tls_contexts(self.folder.certificates)
        found = []
        for part in parts(self.folder, saved, Path):  # their programs may be gone from the cache: not needed here
            process = processes.get(part.name)
            problem = health.problem(part, contexts[part.name]) if process else "not running"
            found.append(PartStatus(part.name, saved[part.name], process, problem))
        return Status(tuple(found), self._nodes(found))

    def api(self) -> Api:
        """The API server, as administrator; to be used in a ``with`` statement while the sandbox is up."""
        return Api(self.folder.certificates, self.folder.read_state().ports["kube-apiserver"])

    def _nodes(self, found: Sequence[PartStatus]) -> tuple[Object, ...]:
        # Without etcd the API server may still call itself ready, and then keeps a list waiting.
        if all(part.problem is None for part in found if part.name in ("etcd", "kube-apiserver")):
            with suppress(SandboxError), self.api() as api:
                return tuple(api.items("/api/v1/nodes"))
        return ()

    def _settled_ports(self) -> dict[str, int]:
        state = self.folder.read_state()
        held = {process.part for process in running(self.folder)}
        if "etcd" in held:
            held.add("etcd-peer")
        ports.wait_until_free([port for name, port in state.ports.items() if name not in held])
        settled = ports.settle(state.ports, held, self.folder.path)
        for name, port in settled.items():
            if state.ports.get(name, port) != port:
                self._report(f"Port {state.ports[name]} of {name} is taken by another program: it moves to {port}")
        self.folder.write_state(State(ports=settled, boot_id=state.boot_id))
        return settled

    def _write_kubeconfigs(self, port: int) -> None:
        for name in API_CLIENTS:
            write_private(kubeconfig_file(self.folder, name), kubeconfig(self.folder.certificates, name, port))
        write_private(self.kubeconfig, kubeconfig(self.folder.certificates, "administrator", port))

    def _write_stages(self) -> bool:
        """Write what KWOK plays; whether that is something else than before."""
        served = False
        with suppress(SandboxError), self.api() as api:
            served = scaled_objects_served(api)
        path, text = stages_file(self.folder), kwok_configuration(kwok_stage_files(), scaled_objects=served)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return False
        write_private(path, text)
        return True


def require_linux() -> None:
    """Stop with a plain sentence where the kernel doesn't tell about processes as Linux does.

    Raises:
        SandboxError: this is not Linux.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxError(
            "The sandbox needs Linux (a virtual machine or WSL 2 will do): it finds its processes in /proc."
        )
