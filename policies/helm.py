"""Helm installs, however they are written: Pulumi releases and charts, Flux HelmReleases, Argo CD Applications."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from policies.model import Path, Resource
from policies.unknowns import Unknown, at, is_unknown, known, mapping, text

RELEASE = "kubernetes:helm.sh/v3:Release"
_CHART = "kubernetes:helm.sh/v4:Chart"
_FLUX = "HelmRelease.helm.toolkit.fluxcd.io"
_ARGO = "Application.argoproj.io"
HELM_KINDS = (RELEASE, _CHART, _FLUX, _ARGO)
_ARCHIVE = re.compile(r"-v?\d[^/]*\.tgz$")


@dataclass(frozen=True)
class HelmInstall:
    """One install: the chart's own name without its repository, its version, and the values given to it."""

    chart: str
    version: str | None
    values: dict[str, Any]
    values_path: Path
    """Where the values stand in the resource, for line numbers."""
    has_hidden_values: bool
    """Whether further values come from files that the resource only points at."""

    def value(self, *path: str, default: Any = None) -> Any:
        """The value at ``path``; else ``default`` (the chart's own), or ``Unknown`` where a file may give one."""
        found = at(self.values, *path)
        if found is not None:
            return found
        return Unknown("a Helm value from a file") if self.has_hidden_values else default

    def is_on(self, *path: str, default: bool) -> bool:
        """A boolean value. Raises NotDecidedError where it is not known."""
        return text(self.value(*path, default=default)) != "false"


def helm_install(resource: Resource) -> HelmInstall | None:
    """What a resource installs; None where it installs no named chart.

    Raises:
        NotDecidedError: the chart or its values are not known yet.
    """
    if resource.group_kind == _FLUX:
        spec: Path = ("spec", "chart", "spec")
        hidden = resource.at("spec", "valuesFrom") is not None
        return _install(resource, (*spec, "chart"), (*spec, "version"), ("spec", "values"), hidden=hidden)
    if resource.group_kind == _ARGO:
        return _argo(resource)
    return _install(resource, ("chart",), ("version",), ("values",), hidden=bool(resource.at("valueYamlFiles")))


def _install(resource: Resource, chart: Path, version: Path, values: Path, *, hidden: bool) -> HelmInstall | None:
    name = _chart_name(resource.at(*chart))
    if name is None:
        return None
    given = resource.at(*version)
    return HelmInstall(
        name,
        None if is_unknown(given) else text(given),
        mapping(resource.at(*values)),
        values,
        has_hidden_values=hidden,
    )


def _argo(resource: Resource) -> HelmInstall | None:
    source = mapping(resource.at("spec", "source"))
    name = _chart_name(source.get("chart"))
    if name is None:
        return None
    helm = mapping(source.get("helm"))
    values = mapping(helm.get("valuesObject"))
    written = text(helm.get("values"))
    if not values and written:
        try:
            values = mapping(yaml.safe_load(written))
        except yaml.YAMLError:
            values = {}
    path: Path = ("spec", "source", "helm")
    hidden = bool(helm.get("valueFiles") or helm.get("parameters"))
    return HelmInstall(name, text(source.get("targetRevision")), values, path, has_hidden_values=hidden)


def _chart_name(chart: Any) -> str | None:
    """``gpu-operator`` from ``gpu-operator``, ``nvidia/gpu-operator``, ``oci://…/gpu-operator`` or an archive of it."""
    reference = text(known(chart))
    if not reference:
        return None
    return _ARCHIVE.sub("", reference.rstrip("/").rsplit("/", 1)[-1])
