"""Whatever died, moved or got lost: the next ``up`` repairs it and touches nothing of others."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from sandbox.api import Object
from sandbox.errors import SandboxError
from sandbox.node_groups import NodeGroup
from sandbox.ports import wait_until_free
from sandbox.processes import running
from sandbox.state_folder import StateFolder
from tests.sandbox.simulated_nodes import up

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.control_plane import Sandbox

pytestmark = pytest.mark.engine
ALL = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
KEEPSAKE: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "keepsake"}}
KEEPSAKES = "/api/v1/namespaces/default/configmaps"


def pids(sandbox: Sandbox) -> dict[str, int]:
    return {process.part: process.pid for process in running(sandbox.folder)}


def kill(sandbox: Sandbox, *parts: str, number: signal.Signals = signal.SIGKILL) -> None:
    for part, pid in pids(sandbox).items():
        if part in parts:
            os.kill(pid, number)


def leave_keepsake(sandbox: Sandbox) -> None:
    with sandbox.api() as api:
        api.apply(f"{KEEPSAKES}/keepsake", KEEPSAKE)


def keepsake_is_there(sandbox: Sandbox) -> bool:
    with sandbox.api() as api:
        return "keepsake" in [item["metadata"]["name"] for item in api.items(KEEPSAKES)]


def test_up_of_a_healthy_sandbox_changes_nothing(sandbox: Sandbox, groups: tuple[NodeGroup, ...]) -> None:
    before = pids(sandbox), sandbox.kubeconfig.read_bytes()
    up(sandbox, groups)
    assert (pids(sandbox), sandbox.kubeconfig.read_bytes()) == before
    assert len(before[0]) == len(ALL)


@pytest.mark.parametrize("lost", [*[(part,) for part in ALL], ("etcd", "kwok"), ("kube-apiserver", "etcd"), ALL])
def test_killed_parts_come_back_and_the_cluster_with_them(
    sandbox: Sandbox, groups: tuple[NodeGroup, ...], lost: tuple[str, ...]
) -> None:
    leave_keepsake(sandbox)
    kubeconfig, before = sandbox.kubeconfig.read_bytes(), pids(sandbox)
    kill(sandbox, *lost)
    assert not sandbox.status().healthy
    up(sandbox, groups)
    assert sandbox.status().healthy
    assert keepsake_is_there(sandbox)
    assert sandbox.kubeconfig.read_bytes() == kubeconfig
    after = pids(sandbox)
    assert {part for part in ALL if after[part] != before[part]} == set(lost)


def test_a_restarted_kwok_plays_new_pods(
    sandbox: Sandbox, groups: tuple[NodeGroup, ...], namespace: str, eventually: Callable[[Callable[[], bool]], bool]
) -> None:
    kill(sandbox, "kwok")
    up(sandbox, groups)
    pods = f"/api/v1/namespaces/{namespace}/pods"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "new"},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    with sandbox.api() as api:
        api.request("POST", pods, pod)
        assert eventually(lambda: api.request("GET", f"{pods}/new")["status"]["phase"] == "Running")


def test_a_part_that_hangs_is_started_anew(
    sandbox: Sandbox, groups: tuple[NodeGroup, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.startup.RECOVERY_SECONDS", 1.0)
    before = pids(sandbox)
    kill(sandbox, "kube-scheduler", number=signal.SIGSTOP)
    up(sandbox, groups)
    assert sandbox.status().healthy
    assert {part for part, pid in pids(sandbox).items() if pid != before[part]} == {"kube-scheduler"}


def test_after_a_reboot_the_cluster_is_as_it_was(sandbox: Sandbox, groups: tuple[NodeGroup, ...]) -> None:
    leave_keepsake(sandbox)
    kill(sandbox, *ALL)
    # After a reboot the noted pids belong to other programs.
    foreign = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        for part in ALL:
            sandbox.folder.pids.joinpath(f"{part}.pid").write_text(str(foreign.pid), encoding="ascii")
        state = sandbox.folder.read_state()
        sandbox.folder.write_state(state.model_copy(update={"boot_id": "the boot before"}))
        up(sandbox, groups)
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()
    assert sandbox.status().healthy
    assert keepsake_is_there(sandbox)


def test_data_that_a_power_cut_destroyed_gives_an_empty_cluster(
    sandbox: Sandbox, groups: tuple[NodeGroup, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_keepsake(sandbox)
    sandbox.folder.pulumi.mkdir()
    kill(sandbox, *ALL)
    database = sandbox.folder.etcd_data / "member" / "snap" / "db"
    database.write_bytes(b"\0" * database.stat().st_size)

    with pytest.raises(SandboxError, match="etcd ended with exit code"):
        up(sandbox, groups)  # within one boot nobody's data is thrown away unasked
    assert sandbox.folder.pulumi.is_dir()

    state = sandbox.folder.read_state()
    sandbox.folder.write_state(state.model_copy(update={"boot_id": "the boot before"}))
    said: list[str] = []
    monkeypatch.setattr(sandbox, "_report", said.append)
    up(sandbox, groups)
    assert any("did not survive the reboot" in sentence for sentence in said)
    assert sandbox.status().healthy
    assert not keepsake_is_there(sandbox)
    assert not sandbox.folder.pulumi.exists()


def test_a_lost_state_file_does_no_harm(sandbox: Sandbox, groups: tuple[NodeGroup, ...]) -> None:
    leave_keepsake(sandbox)
    sandbox.folder.path.joinpath("sandbox.json").unlink()
    up(sandbox, groups)
    assert sandbox.status().healthy
    assert keepsake_is_there(sandbox)
    assert len(running(sandbox.folder)) == len(ALL)


@pytest.mark.parametrize("part", ["kube-apiserver", "etcd", "kwok"])
def test_a_taken_port_moves_and_its_new_owner_is_left_alone(
    sandbox: Sandbox, groups: tuple[NodeGroup, ...], monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    leave_keepsake(sandbox)
    taken = sandbox.folder.read_state().ports[part]
    kill(sandbox, part)
    wait_until_free([taken])
    said: list[str] = []
    monkeypatch.setattr(sandbox, "_report", said.append)
    with socket.create_server(("127.0.0.1", taken)):
        up(sandbox, groups)
    assert any(f"Port {taken} of {part} is taken" in sentence for sentence in said)
    assert sandbox.folder.read_state().ports[part] != taken
    assert str(taken) not in sandbox.kubeconfig.read_text(encoding="utf-8")
    assert sandbox.status().healthy
    assert keepsake_is_there(sandbox)


def test_two_clones_run_side_by_side_and_end_alone(
    sandbox: Sandbox, new_sandbox: Sandbox, groups: tuple[NodeGroup, ...]
) -> None:
    up(new_sandbox, groups[:1])
    assert sandbox.status().healthy
    assert new_sandbox.status().healthy
    assert {node["metadata"]["name"] for node in new_sandbox.status().nodes} == {"system-1", "system-2"}
    assert not set(new_sandbox.folder.read_state().ports.values()) & set(sandbox.folder.read_state().ports.values())
    new_sandbox.down()
    assert running(new_sandbox.folder) == []
    assert not new_sandbox.folder.path.exists()
    assert sandbox.status().healthy


def test_down_that_keeps_the_data_goes_on_with_it(sandbox: Sandbox, groups: tuple[NodeGroup, ...]) -> None:
    leave_keepsake(sandbox)
    sandbox.down(keep_data=True)
    assert running(sandbox.folder) == []
    up(sandbox, groups)
    assert keepsake_is_there(sandbox)


def test_an_up_that_was_killed_half_way_leaves_nothing_unknown(
    new_sandbox: Sandbox, groups: tuple[NodeGroup, ...], tmp_path: Path
) -> None:
    program = (
        "import os, sys; from pathlib import Path; from sandbox.control_plane import Sandbox;"
        "say = lambda line: os._exit(9) if 'controller' in line else None;"
        "Sandbox(Path(sys.argv[1]), say).up()"
    )
    folder: StateFolder = new_sandbox.folder
    assert subprocess.run([sys.executable, "-c", program, str(folder.path)], check=False).returncode == 9
    assert {process.part for process in running(folder)} == {"etcd", "kube-apiserver"}
    up(new_sandbox, groups[:1])
    assert new_sandbox.status().healthy
