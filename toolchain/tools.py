"""The declared table of tools: what is built or copied from which Go module.

A tool's version pins stand in its folder's go.mod and go.sum beside this file, nowhere else. To add a tool, add its
folder and one row to `TOOLS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolchain.errors import ToolchainError

SOURCE_ROOT = Path(__file__).resolve().parent


@dataclass(frozen=True)
class ModuleFiles:
    """Files that a Go module carries, copied into the tool's cache entry.

    `patterns` are globs inside the module; `folder` is where in the cache entry the files go ("" is its root).
    """

    module: str
    patterns: tuple[str, ...]
    folder: str = ""


@dataclass(frozen=True)
class Embedded:
    """A file of a Go module that the tool's own main package embeds under its base name. Never stored in the repo."""

    module: str
    path: str


@dataclass(frozen=True)
class GoBinary:
    """One `go build`.

    `package` is an import path, or "." for the folder's own main package; `variables` are set with the linker's -X;
    `links` are further names of the binary, for one that picks its role by the name it is started by.
    """

    package: str
    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    embeds: tuple[Embedded, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """One cache entry.

    `folder` holds the pins; `siblings` are local Go modules that its go.mod replaces by path, so they are inputs too;
    `parts` are tools whose files are gathered in this entry. `cold_build_minutes` and `build_memory_gib` (the peak,
    while linking) were measured on 2 cores with no Go build cache, on a machine that did other work too.
    """

    name: str
    summary: str
    folder: str = ""
    siblings: tuple[str, ...] = ()
    binary: GoBinary | None = None
    files: tuple[ModuleFiles, ...] = ()
    parts: tuple[str, ...] = ()
    cold_build_minutes: float = 0.1
    build_memory_gib: float = 0.5

    @property
    def executables(self) -> tuple[str, ...]:
        """The names that can be started."""
        return (self.binary.name, *self.binary.links) if self.binary else ()

    @property
    def input_folders(self) -> tuple[Path, ...]:
        """The folders whose content decides what is built."""
        return tuple(SOURCE_ROOT / name for name in (self.folder, *self.siblings) if name)


PULUMI_VERSION = "3.274.1"
KUBERNETES_PROVIDER_VERSION = "4.25.0"
KUBERNETES_VERSION = "1.36.3"

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_KUBERNETES_MINOR = KUBERNETES_VERSION.split(".")[1]

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="etcd",
        summary="the control plane's store",
        folder="etcd",
        binary=GoBinary("go.etcd.io/etcd/server/v3", "etcd"),
        cold_build_minutes=0.5,
        build_memory_gib=1,
    ),
    Tool(
        name="kwok",
        summary="simulates the nodes and what runs on them",
        folder="kwok",
        binary=GoBinary("sigs.k8s.io/kwok/cmd/kwok", "kwok"),
        files=(
            ModuleFiles(
                "sigs.k8s.io/kwok",
                (
                    "kustomize/stage/node/fast/node-*.yaml",
                    "kustomize/stage/node/heartbeat-with-lease/node-*.yaml",
                    "kustomize/stage/pod/fast/pod-*.yaml",
                    "kustomize/stage/volume/fast/pv*.yaml",
                ),
                "stages",
            ),
        ),
        cold_build_minutes=1.5,
        build_memory_gib=1.5,
    ),
    Tool(
        name="kubernetes",
        summary="API server, controller manager and scheduler",
        folder="kubernetes",
        binary=GoBinary(
            ".",
            "kubernetes",
            variables={
                # kubectl and the Kubernetes provider parse the server's version, so it has to be a real one.
                "k8s.io/component-base/version.gitVersion": f"v{KUBERNETES_VERSION}",
                "k8s.io/component-base/version.gitMajor": "1",
                "k8s.io/component-base/version.gitMinor": _KUBERNETES_MINOR,
            },
            links=("kube-apiserver", "kube-controller-manager", "kube-scheduler"),
        ),
        cold_build_minutes=6,
        build_memory_gib=3,
    ),
    Tool(
        name="pulumi",
        summary="the Pulumi engine",
        folder="pulumi",
        binary=GoBinary(
            "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            "pulumi",
            # Without a version, the automation API and the plugin checks refuse the CLI.
            variables={f"{_SDK}/go/common/version.Version": PULUMI_VERSION},
        ),
        cold_build_minutes=4,
        build_memory_gib=3,
    ),
    Tool(
        name="pulumi-language-python",
        summary="runs Python programs and policy packs for the engine",
        folder="pulumi-language-python",
        siblings=("enginewatch",),
        binary=GoBinary(".", "pulumi-language-python", variables={"main.version": PULUMI_VERSION}),
        files=(ModuleFiles(_SDK, ("python/cmd/pulumi-language-python-exec",)),),
        cold_build_minutes=0.5,
        build_memory_gib=1,
    ),
    Tool(
        name="pulumi-cli",
        summary="the engine with its Python language host beside it",
        # The engine takes a language host that lies beside its own binary without asking PATH, and without a warning.
        parts=("pulumi", "pulumi-language-python"),
    ),
    Tool(
        name="pulumi-resource-kubernetes",
        summary="the Pulumi Kubernetes provider",
        folder="pulumi-kubernetes",
        siblings=("enginewatch",),
        binary=GoBinary(
            ".",
            "pulumi-resource-kubernetes",
            variables={f"{_PROVIDER}/pkg/version.Version": KUBERNETES_PROVIDER_VERSION},
            embeds=(
                Embedded(_PROVIDER, "cmd/pulumi-resource-kubernetes/schema.json"),
                Embedded(_PROVIDER, "cmd/pulumi-resource-kubernetes/terraform-mapping.json"),
            ),
        ),
        cold_build_minutes=10,
        build_memory_gib=6,
    ),
    Tool(
        name="keda",
        summary="KEDA's custom resource definitions",
        folder="keda",
        files=(ModuleFiles("github.com/kedacore/keda/v2", ("config/crd/bases/*.yaml",), "crds"),),
    ),
    Tool(
        name="prometheus-operator",
        summary="the Prometheus operator's custom resource definitions",
        folder="prometheus-operator",
        files=(
            ModuleFiles(
                "github.com/prometheus-operator/prometheus-operator",
                ("example/prometheus-operator-crd/*.yaml",),
                "crds",
            ),
        ),
    ),
)


def find(name: str) -> Tool:
    """The row of that name. Raises ToolchainError for a name that the table lacks."""
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise ToolchainError(
        f"There is no tool named {name!r}.", f"The tools are: {', '.join(tool.name for tool in TOOLS)}."
    )


def providing(executable: str) -> Tool:
    """The tool that an executable belongs to. Raises ToolchainError for an unknown name."""
    for tool in TOOLS:
        if executable in tool.executables:
            return tool
    known = ", ".join(name for tool in TOOLS for name in tool.executables)
    raise ToolchainError(f"No tool has an executable named {executable!r}.", f"The executables are: {known}.")


def with_parts(names: Iterable[str]) -> tuple[Tool, ...]:
    """The named tools and the parts that they gather, in the table's order, each once."""
    wanted: set[str] = set()
    for name in names:
        wanted.update((name, *find(name).parts))
    return tuple(tool for tool in TOOLS if tool.name in wanted)
