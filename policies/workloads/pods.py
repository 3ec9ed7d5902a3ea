"""The pod templates inside Kubernetes objects, and the containers inside those, with resolved environments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from policies.model import Path, Resource
from policies.unknowns import Unknown, at, mapping, mappings, sequence, text, whole
from policies.workloads.quantities import gib, quantity
from policies.workloads.shell import UNRESOLVED

Role = Literal["", "leader", "worker"]

LEADER_WORKER_SET = "LeaderWorkerSet.leaderworkerset.x-k8s.io"
RAY_KINDS = ("RayCluster.ray.io", "RayService.ray.io", "RayJob.ray.io")
_TEMPLATE = {
    "Pod": (),
    "Deployment.apps": ("spec", "template"),
    "StatefulSet.apps": ("spec", "template"),
    "DaemonSet.apps": ("spec", "template"),
    "ReplicaSet.apps": ("spec", "template"),
    "Job.batch": ("spec", "template"),
    "CronJob.batch": ("spec", "jobTemplate", "spec", "template"),
    "Rollout.argoproj.io": ("spec", "template"),
}
_RAY_CLUSTER = {
    "RayCluster.ray.io": ("spec",),
    "RayService.ray.io": ("spec", "rayClusterConfig"),
    "RayJob.ray.io": ("spec", "rayClusterSpec"),
}
POD_OWNERS: tuple[str, ...] = (*_TEMPLATE, LEADER_WORKER_SET, *RAY_KINDS, "InferenceService.serving.kserve.io")
"""The kinds that hold pod templates: what a rule on pods states as ``applies_to``."""

# GPUs as device plugins offer them; shares of one (MIG, time slices) count as one device each.
GPU_RESOURCE = re.compile(r"nvidia\.com/(gpu(\.shared)?|mig-.+)|amd\.com/gpu")
# Accelerators without NCCL and CUDA: rules on GPU ranks say nothing about them.
OTHER_ACCELERATOR = re.compile(r"aws\.amazon\.com/neuron.*|google\.com/tpu|habana\.ai/gaudi|gpu\.intel\.com/.+")
EFA_RESOURCE = "vpc.amazonaws.com/efa"
_RDMA_RESOURCE = re.compile(r"vpc\.amazonaws\.com/efa|rdma/.+|.*/(rdma|roce|ib|hca|mlnx).*", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Container:
    """One container of a template. ``path`` is where it stands in the object."""

    pod: PodTemplate
    body: dict[str, Any]
    path: Path

    @property
    def name(self) -> str:
        """The container's name."""
        return text(self.body.get("name")) or ""

    @property
    def image(self) -> str:
        """The image reference as written; empty where there is none."""
        return text(self.body.get("image")) or ""

    @cached_property
    def environment(self) -> dict[str, str]:
        """Variables with ``$(NAME)`` expanded as the kubelet does; ``UNRESOLVED`` for what a reference provides."""
        resolved = dict(self.pod.injected_environment)
        for row in mappings(self.body.get("env")):
            name, value = text(row.get("name")), row.get("value")
            if name is None:
                continue
            is_elsewhere = isinstance(value, Unknown) or (value is None and row.get("valueFrom") is not None)
            resolved[name] = UNRESOLVED if is_elsewhere else expand(text(value) or "", resolved)
        return resolved

    @property
    def has_environment_from(self) -> bool:
        """Whether ConfigMaps or Secrets add variables that stand elsewhere."""
        return bool(sequence(self.body.get("envFrom")))

    def environment_row(self, name: str) -> tuple[dict[str, Any], Path] | None:
        """The (last) env entry called ``name`` as written, and its path."""
        rows = sequence(self.body.get("env"))
        for index in range(len(rows) - 1, -1, -1):
            if isinstance(rows[index], dict) and at(rows[index], "name") == name:
                return rows[index], (*self.path, "env", index)
        return None

    def quantity(self, resource: str, section: Literal["limits", "requests"]) -> float | None:
        """A resource of ``limits`` or ``requests``, in its base unit."""
        return quantity(at(self.body, "resources", section, resource))

    @property
    def memory_limit_gib(self) -> float | None:
        """The memory limit in GiB."""
        return gib(at(self.body, "resources", "limits", "memory"))

    def _names(self) -> list[str]:
        sections = [mapping(at(self.body, "resources", section)) for section in ("limits", "requests")]
        return [name for section in sections for name in section]

    @cached_property
    def gpu_resource(self) -> str | None:
        """The name under which it asks for GPUs, e.g. ``nvidia.com/gpu``."""
        return next((name for name in self._names() if GPU_RESOURCE.fullmatch(name)), None)

    @property
    def gpus(self) -> int:
        """How many GPUs it asks for: by limits, else by requests; 0 for none."""
        if self.gpu_resource is None:
            return 0
        limit = self.quantity(self.gpu_resource, "limits")
        asked = limit if limit is not None else self.quantity(self.gpu_resource, "requests")
        return int(asked or 0)

    @property
    def has_other_accelerator(self) -> bool:
        """Whether it runs on Neuron, TPU, Gaudi or Intel devices."""
        return any(OTHER_ACCELERATOR.fullmatch(name) for name in self._names())

    @property
    def claims_devices(self) -> bool:
        """Whether it gets devices through a resource claim (DRA): how many stands elsewhere."""
        return bool(sequence(at(self.body, "resources", "claims")))

    @property
    def rdma_devices(self) -> bool:
        """Whether it asks for EFA or another RDMA device."""
        return any(_RDMA_RESOURCE.fullmatch(name) for name in self._names())

    @cached_property
    def mounts(self) -> list[tuple[dict[str, Any], Path]]:
        """Its volumeMounts with their paths."""
        rows = sequence(self.body.get("volumeMounts"))
        return [(row, (*self.path, "volumeMounts", index)) for index, row in enumerate(rows) if isinstance(row, dict)]

    def mount_at(self, folder: str) -> dict[str, Any] | None:
        """The mount that holds ``folder``: the deepest one whose mountPath is it or a parent of it."""
        best: dict[str, Any] | None = None
        best_length = -1
        for row, _ in self.mounts:
            path = (text(row.get("mountPath")) or "").rstrip("/")
            if (folder == path or folder.startswith(f"{path}/")) and path and len(path) > best_length:
                best, best_length = row, len(path)
        return best


@dataclass(frozen=True, eq=False)
class PodTemplate:
    """One pod template. ``path`` leads to the mapping that holds ``metadata`` and ``spec``."""

    resource: Resource
    path: Path
    role: Role = ""
    group_size: int = 1
    """How many pods one engine has here: a LeaderWorkerSet's size, else 1 (an engine may span more: see its flags)."""

    @property
    def spec_path(self) -> Path:
        """Where the pod's spec stands."""
        return (*self.path, "predictor") if self.path[-1:] == ("spec",) and self._is_kserve else (*self.path, "spec")

    @property
    def _is_kserve(self) -> bool:
        return self.resource.group_kind == "InferenceService.serving.kserve.io"

    @property
    def spec(self) -> dict[str, Any]:
        """The pod's spec."""
        return mapping(self.resource.at(*self.spec_path))

    @property
    def labels(self) -> dict[str, Any]:
        """The pods' labels."""
        return mapping(self.resource.at(*self.path, "metadata", "labels"))

    @property
    def annotations(self) -> dict[str, Any]:
        """The pods' annotations."""
        return mapping(self.resource.at(*self.path, "metadata", "annotations"))

    @property
    def injected_environment(self) -> dict[str, str]:
        """What the LeaderWorkerSet controller adds to each container's environment."""
        if self.resource.group_kind != LEADER_WORKER_SET:
            return {}
        unknown = {"LWS_LEADER_ADDRESS": UNRESOLVED, "LWS_WORKER_INDEX": UNRESOLVED}
        return {"LWS_GROUP_SIZE": str(self.group_size), **unknown}

    @cached_property
    def containers(self) -> list[Container]:
        """The containers (no init containers)."""
        return self._containers("containers")

    @cached_property
    def init_containers(self) -> list[Container]:
        """The init containers."""
        return self._containers("initContainers")

    def _containers(self, key: str) -> list[Container]:
        rows = sequence(self.spec.get(key))
        found = [
            Container(self, row, (*self.spec_path, key, index))
            for index, row in enumerate(rows)
            if isinstance(row, dict)
        ]
        model = self.spec.get("model") if key == "containers" and self._is_kserve else None
        if isinstance(model, dict):  # KServe's predictor.model is a container with more fields
            found.append(Container(self, model, (*self.spec_path, "model")))
        return found

    def volume(self, name: Any) -> dict[str, Any] | None:
        """The volume of that name; a StatefulSet's claim templates count as volumes."""
        wanted = text(name)
        for row in mappings(self.spec.get("volumes")):
            if text(row.get("name")) == wanted:
                return row
        for row in mappings(self.resource.at("spec", "volumeClaimTemplates")):
            if text(at(row, "metadata", "name")) == wanted:
                return {"name": wanted, "volumeClaimTemplate": row}
        return None


def expand(value: str, environment: dict[str, str]) -> str:
    """``$(NAME)`` as the kubelet expands it: defined names only, ``$$(NAME)`` stays a literal ``$(NAME)``."""

    def replaced(match: re.Match[str]) -> str:
        if match.group().startswith("$$"):
            return match.group()[1:]
        return environment.get(match.group(1), match.group())

    return re.sub(r"\$?\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)", replaced, value)


@lru_cache(maxsize=8192)
def pod_templates(resource: Resource) -> tuple[PodTemplate, ...]:
    """The pod templates of an object; empty for kinds that have none.

    Raises:
        NotDecidedError: where they stand is not known yet.
    """
    return tuple(_pod_templates(resource))


def _pod_templates(resource: Resource) -> Iterator[PodTemplate]:
    kind = resource.group_kind
    if kind in _TEMPLATE:
        yield PodTemplate(resource, _TEMPLATE[kind])
    elif kind == LEADER_WORKER_SET:
        base = ("spec", "leaderWorkerTemplate")
        size = whole(resource.at(*base, "size")) or 1
        has_leader = isinstance(resource.at(*base, "leaderTemplate"), dict)
        if has_leader:
            yield PodTemplate(resource, (*base, "leaderTemplate"), "leader", size)
        if isinstance(resource.at(*base, "workerTemplate"), dict):
            yield PodTemplate(resource, (*base, "workerTemplate"), "worker" if has_leader else "", size)
    elif kind in _RAY_CLUSTER:
        cluster = _RAY_CLUSTER[kind]
        if isinstance(resource.at(*cluster, "headGroupSpec", "template"), dict):
            yield PodTemplate(resource, (*cluster, "headGroupSpec", "template"), "leader")
        for index in range(len(sequence(resource.at(*cluster, "workerGroupSpecs")))):
            yield PodTemplate(resource, (*cluster, "workerGroupSpecs", index, "template"), "worker")
    elif kind == "InferenceService.serving.kserve.io":
        yield PodTemplate(resource, ("spec",))
