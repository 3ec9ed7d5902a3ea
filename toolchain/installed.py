"""What the rest of the house asks the toolchain for: paths of tools, built first where they are missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from toolchain import cache
from toolchain.errors import ToolchainError
from toolchain.tools import KUBERNETES_PROVIDER_VERSION, PULUMI_VERSION, find, providing, with_parts


class PulumiCli(NamedTuple):
    """A Pulumi CLI that can run this project. `ours` is False for one found on PATH."""

    path: Path
    version: str
    ours: bool


def ensure(names: Sequence[str]) -> dict[str, Path]:
    """The folder of each named tool, built where it is missing.

    Raises ToolchainError for an unknown name, for what this machine lacks, and for what Go says.
    """
    from rich.console import Console

    from toolchain import build

    entries = build.ensure(with_parts(names), Console(stderr=True))
    return {name: entries[name] for name in names}


def executable(name: str) -> Path:
    """The path of an executable such as "etcd" or "kube-apiserver", built where it is missing."""
    tool = providing(name)
    return ensure([tool.name])[tool.name] / name


def pulumi_cli() -> PulumiCli:
    """The `pulumi` on PATH where it fits (its version, and its own Python language host beside it), else ours."""
    found = shutil.which("pulumi")
    # In a shell with our own environment the one found is ours, perhaps of older pins.
    if found is not None and cache.root() not in Path(found).resolve().parents:
        version = _version_of(found)
        if fits(version) and (Path(found).resolve().parent / "pulumi-language-python").exists():
            return PulumiCli(Path(found), version, ours=False)
    return PulumiCli(ensure(["pulumi-cli"])["pulumi-cli"] / "pulumi", PULUMI_VERSION, ours=True)


def fits(version: str) -> bool:
    """Whether a CLI version, such as "3.274.1", is one that this project runs with: ours or later, below 4."""
    oldest = tuple(int(part) for part in PULUMI_VERSION.split("."))
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    return match is not None and oldest <= tuple(int(part) for part in match.groups()) < (oldest[0] + 1,)


def _version_of(pulumi: str) -> str:
    """What `pulumi version` answers, without the v; "" where it can't be started."""
    quiet = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run([pulumi, "version"], env=quiet, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().removeprefix("v")


def prepare_pulumi_home(home: Path) -> dict[str, str]:
    """Installs our Kubernetes provider in a PULUMI_HOME and returns the environment to run the CLI with.

    The environment is the present one with what makes the engine use this home alone: no plugin from PATH, no
    download, no look for an update. Put further plugins in `home`/plugins/<kind>-<name>-v<version>/.
    """
    cli = pulumi_cli()
    provider = executable("pulumi-resource-kubernetes")
    plugin = home.absolute() / "plugins" / f"resource-kubernetes-v{KUBERNETES_PROVIDER_VERSION}"
    plugin.mkdir(parents=True, exist_ok=True)
    _link(plugin / provider.name, provider)
    return os.environ | {
        "PULUMI_HOME": str(home.absolute()),
        "PATH": os.pathsep.join((str(cli.path.parent), os.environ.get("PATH", os.defpath))),
        # The engine finds the language host beside its own binary, so it needs nothing from PATH, and a provider
        # that happens to lie there is never taken.
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # An Output put into a string is a defect of the program: stop, instead of writing its repr into a manifest.
        "PULUMI_ERROR_OUTPUT_STRING": "true",
    }


def _link(link: Path, target: Path) -> None:
    """Makes or corrects a symbolic link in one step, so that an engine that starts meanwhile finds one or the other."""
    if link.is_symlink() and link.readlink() == target:
        return
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def crd_files(name: str) -> tuple[Path, ...]:
    """The YAML files of the custom resource definitions of "keda" or "prometheus-operator"."""
    if not any(files.folder == "crds" for files in find(name).files):
        raise ToolchainError(f"{name} has no custom resource definitions in the toolchain.")
    return tuple(sorted((ensure([name])[name] / "crds").glob("*.yaml")))


def kwok_stage_files() -> tuple[Path, ...]:
    """The YAML files of KWOK's stages: nodes and pods that become ready at once, leases, volumes that bind."""
    return tuple(sorted((ensure(["kwok"])["kwok"] / "stages").glob("*.yaml")))
