"""Command lines: loopback only, TLS everywhere, and a digest that tells when a process must be started anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sandbox.parts import PART_NAMES, Part, kubeconfig_file, parts
from sandbox.ports import PORT_NAMES
from sandbox.state_folder import StateFolder

PORTS = {name: 20000 + index for index, name in enumerate(PORT_NAMES)}


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "sandbox")


@pytest.fixture
def by_name(folder: StateFolder) -> dict[str, Part]:
    return {part.name: part for part in parts(folder, PORTS, lambda name: Path("/tools") / name)}


def flag(part: Part, name: str) -> str:
    """The value of a flag that must be there exactly once."""
    [value] = [word.removeprefix(f"--{name}=") for word in part.command if word.startswith(f"--{name}=")]
    return value


def test_each_part_is_its_own_program_on_its_own_loopback_port_with_tls(by_name: dict[str, Part]) -> None:
    assert tuple(by_name) == PART_NAMES
    for name, part in by_name.items():
        assert part.command[0] == f"/tools/{name}"
        url = urlsplit(part.health_url)
        assert (url.scheme, url.hostname, url.port) == ("https", "127.0.0.1", PORTS[name])
        assert "0.0.0.0" not in " ".join(part.command)
        assert "http://" not in " ".join(part.command)


def test_only_the_api_server_opens_etcd(by_name: dict[str, Part], folder: StateFolder) -> None:
    etcd = by_name["etcd"]
    assert flag(etcd, "client-cert-auth") == "true"
    assert flag(etcd, "peer-client-cert-auth") == "true"
    assert flag(etcd, "trusted-ca-file") == str(folder.certificates / "etcd-authority.crt")
    assert flag(by_name["kube-apiserver"], "etcd-servers") == flag(etcd, "listen-client-urls")
    others = [" ".join(by_name[name].command) for name in PART_NAMES if name not in ("etcd", "kube-apiserver")]
    assert not [command for command in others if "etcd" in command]


def test_aggregated_apis_have_an_authority_of_their_own(by_name: dict[str, Part]) -> None:
    server = by_name["kube-apiserver"]
    assert flag(server, "requestheader-client-ca-file") != flag(server, "client-ca-file")
    assert flag(server, "requestheader-allowed-names") == "front-proxy"


def test_the_digest_follows_the_command_and_the_files(folder: StateFolder, by_name: dict[str, Part]) -> None:
    scheduler = by_name["kube-scheduler"]
    for path in scheduler.reads:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a", encoding="ascii")
    before = scheduler.digest
    assert scheduler.digest == before
    assert replace(scheduler, command=(*scheduler.command, "--v=4")).digest != before
    kubeconfig_file(folder, "kube-scheduler").write_text("b", encoding="ascii")
    assert scheduler.digest != before
