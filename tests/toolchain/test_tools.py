"""The table, and the folders of pins that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolchain import installed, tools
from toolchain.errors import ToolchainError
from toolchain.tools import SOURCE_ROOT, TOOLS, Tool

WITH_PINS = [tool for tool in TOOLS if tool.folder]


@pytest.mark.parametrize("tool", WITH_PINS, ids=lambda tool: tool.name)
def test_every_pin_is_exact_and_has_its_checksum(tool: Tool) -> None:
    folder = SOURCE_ROOT / tool.folder
    pins = re.findall(r"^(?:require )?\t?(\S+) (v\S+)", (folder / "go.mod").read_text(), re.MULTILINE)
    sums = {tuple(line.split()[:2]) for line in (folder / "go.sum").read_text().splitlines()}
    replaced = {*re.findall(r"^(?:replace )?\t?(\S+) => ", (folder / "go.mod").read_text(), re.MULTILINE)}
    unsummed = [
        pin for pin in pins if pin[0] not in replaced and pin not in sums and (pin[0], f"{pin[1]}/go.mod") not in sums
    ]
    assert pins
    assert unsummed == []


def test_no_folder_of_pins_is_forgotten_in_the_table() -> None:
    named = {folder for tool in TOOLS for folder in tool.input_folders}
    assert {path.parent for path in SOURCE_ROOT.glob("*/go.mod")} == named


def test_the_versions_in_the_table_are_those_of_the_pins() -> None:
    def pins(folder: str) -> str:
        return (SOURCE_ROOT / folder / "go.mod").read_text()

    assert f"github.com/pulumi/pulumi/pkg/v3 v{tools.PULUMI_VERSION}" in pins("pulumi")
    assert f"github.com/pulumi/pulumi/sdk/v3 v{tools.PULUMI_VERSION}" in pins("pulumi-language-python")
    assert f"k8s.io/kubernetes v{tools.KUBERNETES_VERSION}" in pins("kubernetes")


def test_the_provider_is_the_version_that_the_python_sdk_asks_for() -> None:
    from importlib.metadata import version

    assert version("pulumi-kubernetes") == tools.KUBERNETES_PROVIDER_VERSION


def test_names_and_executables_are_unique_and_parts_come_before_what_gathers_them() -> None:
    names = [tool.name for tool in TOOLS]
    executables = [name for tool in TOOLS for name in tool.executables]
    assert len(set(names)) == len(names)
    assert len(set(executables)) == len(executables)
    for position, tool in enumerate(TOOLS):
        assert set(tool.parts) <= set(names[:position])


def test_asking_for_a_gathering_tool_brings_its_parts_first() -> None:
    assert [tool.name for tool in tools.with_parts(["pulumi-cli"])] == [
        "pulumi",
        "pulumi-language-python",
        "pulumi-cli",
    ]


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(ToolchainError, match=r"no tool named 'ectd'[\s\S]*etcd, kwok"):
        tools.find("ectd")
    with pytest.raises(ToolchainError, match=r"executable named 'kubelet'[\s\S]*kube-apiserver"):
        tools.providing("kubelet")


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ("3.274.1", True),
        ("3.275.0", True),
        ("3.1000.0", True),
        ("3.274.0", False),
        ("3.99.9", False),
        ("4.0.0", False),
        ("3.275.0-alpha.1", False),
        ("", False),
    ],
)
def test_which_cli_on_path_is_used_as_it_is(version: str, fits: bool) -> None:
    assert installed.fits(version) is fits


def fake_pulumi(folder: Path, version: str, *, with_language_host: bool = True) -> Path:
    folder.mkdir()
    pulumi = folder / "pulumi"
    pulumi.write_text(f"#!/bin/sh\necho v{version}\n")
    pulumi.chmod(0o755)
    if with_language_host:
        (folder / "pulumi-language-python").touch()
    return pulumi


def test_a_fitting_cli_on_path_is_taken_and_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pulumi = fake_pulumi(tmp_path / "bin", "3.280.0")
    monkeypatch.setenv("PATH", f"{pulumi.parent}:/bin:/usr/bin")
    monkeypatch.setattr(installed, "ensure", lambda names: pytest.fail(f"would build {names}"))
    assert installed.pulumi_cli() == (pulumi, "3.280.0", False)


@pytest.mark.parametrize(("version", "host"), [("3.100.0", True), ("3.280.0", False)])
def test_one_that_is_too_old_or_lacks_its_language_host_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, host: bool
) -> None:
    pulumi = fake_pulumi(tmp_path / "bin", version, with_language_host=host)
    monkeypatch.setenv("PATH", f"{pulumi.parent}:/bin:/usr/bin")
    monkeypatch.setattr(installed, "ensure", lambda names: {name: tmp_path / name for name in names})
    assert installed.pulumi_cli() == (tmp_path / "pulumi-cli" / "pulumi", tools.PULUMI_VERSION, True)


def test_one_from_our_own_cache_is_not_taken_for_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "gpu-inference" / "toolchain").mkdir(parents=True)
    pulumi = fake_pulumi(tmp_path / "gpu-inference" / "toolchain" / "pulumi-cli-old", "3.280.0")
    monkeypatch.setenv("PATH", f"{pulumi.parent}:/bin:/usr/bin")
    monkeypatch.setattr(installed, "ensure", lambda names: {name: tmp_path / name for name in names})
    assert installed.pulumi_cli().ours
