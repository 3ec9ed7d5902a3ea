"""The stack's ``model_cache`` section: where weights lie between a hub and the GPUs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from components.arguments import Args, ObjectName
from components.aws_arguments import ZoneId

CacheKind = Literal["fsx", "efs", "node_local", "storage_class"]
_KINDS: tuple[CacheKind, ...] = ("fsx", "efs", "node_local", "storage_class")


class S3Import(Args):
    """A prefix of an S3 bucket that shows up in the file system. Import only: no deletion in the cache reaches it."""

    path: Annotated[str, StringConstraints(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?$")]
    file_system_path: Annotated[str, StringConstraints(pattern=r"^/.*$")] = "/hub"
    """Where in the file system. ``/hub`` is where Hugging Face's cache looks, so the prefix holds ``models--…``."""


class LustreArgs(Args):
    """FSx for Lustre, PERSISTENT_2 on SSD. It is in one zone: the GPUs' own."""

    zone: ZoneId | None = None
    """None: the GPU groups' zone, where they are in one."""
    throughput_mb_per_second_per_tib: Literal[125, 250, 500, 1000] = 500
    s3_import: S3Import | None = None


class ElasticArgs(Args):
    """EFS, in every private subnet's zone. Slow for hundreds of GB; no capacity to plan."""

    throughput_mode: Literal["elastic", "bursting"] = "elastic"


class NodeLocalArgs(Args):
    """The nodes' own NVMe disks (RAID0): the fastest to reload from, gone with the node, one copy a node."""


class ModelCacheArgs(Args):
    """The shared claim for weights. At most one of the four kinds; none of them means FSx for Lustre."""

    claim_name: ObjectName = "pvc-hf-model-cache"
    storage_gib: Annotated[int, Field(ge=1, le=1_048_576)]
    """At least the weights of every model that is served, once."""
    fsx: LustreArgs | None = None
    efs: ElasticArgs | None = None
    node_local: NodeLocalArgs | None = None
    storage_class: str | None = None
    """A class of the cluster that makes ReadWriteMany volumes by itself."""
    prefetch: bool = True
    """Fill the cache once, before the servers start, so that replicas don't fetch the same weights side by side."""

    @model_validator(mode="before")
    @classmethod
    def _one_kind(cls, value: Any) -> Any:
        named = [kind for kind in _KINDS if isinstance(value, dict) and value.get(kind) is not None]
        if len(named) > 1:
            raise ValueError(f"names {' and '.join(named)}; choose one of: {', '.join(_KINDS)}")
        return value

    @model_validator(mode="after")
    def _lustre_sizes(self) -> ModelCacheArgs:
        size = self.storage_gib
        if self.kind == "fsx" and size != 1200 and (size < 2400 or size % 2400):
            raise ValueError(f"storage_gib: {size}; FSx for Lustre comes in 1200, 2400 and multiples of 2400 GiB")
        return self

    @property
    def kind(self) -> CacheKind:
        """Which of the four it is."""
        return next((kind for kind in _KINDS if getattr(self, kind) is not None), "fsx")

    @property
    def lustre(self) -> LustreArgs:
        """The FSx settings, where ``kind`` is ``fsx``."""
        return self.fsx or LustreArgs()
