"""The frozen Args of a model server and its autoscaler: the stack's ``model_servers`` entries."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from catalog.facts import UnknownFactError
from catalog.models import Model
from catalog.models import model as find_model
from catalog.vllm_versions import VllmVersion, default_vllm_version, vllm_version
from components.arguments import Args, ObjectName

PositiveSeconds = Annotated[int, Field(ge=1, le=24 * 3600)]


class SecretKey(Args):
    """A key of an existing Kubernetes Secret in the serving namespace; never the secret itself."""

    name: ObjectName
    key: str = "token"


class AutoscalerArgs(Args):
    """How KEDA scales one model server. Thresholds are the article's."""

    name: ObjectName
    min_replicas: Annotated[int, Field(ge=1, le=1000)] = 2
    """At least 1: vLLM's own metrics vanish at zero replicas, so nothing would wake it."""
    max_replicas: Annotated[int, Field(ge=1, le=1000)] | None = None
    """None: what the node group can ever hold."""
    waiting_requests_per_replica: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Queued requests for each replica before another is added (AverageValue); None: from sizing, the article's 5."""
    kv_cache_usage: Annotated[float, Field(gt=0, lt=1)] = 0.85
    """Share of KV-cache blocks in use, the fullest replica's (Value)."""
    polling_interval_seconds: PositiveSeconds = 15
    scale_up_window_seconds: Annotated[int, Field(ge=0, le=3600)] = 0
    scale_down_window_seconds: Annotated[int, Field(ge=0, le=3600)] = 600
    """A 70B replica takes minutes to come back: scale down late (facts/serving.md section 3)."""


class ModelServerArgs(Args):
    """One model, served by vLLM with tensor parallelism inside a node."""

    name: ObjectName
    model: str
    """Hugging Face id; the catalog must know it."""
    node_group: ObjectName
    """The node group, from the stack's ``node_groups``, whose GPUs serve it."""
    vllm_version: str = Field(default_factory=default_vllm_version)
    image: str | None = None
    """Another image with the same vLLM version (a private registry, EFA inside); None: the stock one."""
    tensor_parallel_size: Annotated[int, Field(ge=1, le=8)]
    max_model_len: Annotated[int, Field(ge=1, le=10_000_000)]
    """Tokens of prompt and answer together."""
    max_num_batched_tokens: Annotated[int, Field(ge=64, le=1_000_000)] = 8192
    max_num_seqs: Annotated[int, Field(ge=1, le=100_000)] | None = None
    gpu_memory_utilization: Annotated[float, Field(gt=0.1, le=0.98)] = 0.92
    """The article's. Above 0.98 nothing is left for CUDA itself."""
    kv_cache_dtype: str = "auto"
    trust_remote_code: bool | None = None
    """None: as the model needs it (and as the article has it, for the version that it was written for)."""
    hugging_face_token: SecretKey = SecretKey(name="hf-token-secret", key="token")
    replicas: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Only without ``autoscaler``: KEDA owns the number otherwise."""
    autoscaler: AutoscalerArgs | None = None
    cpu_request: Annotated[int, Field(ge=1, le=192)] = 16
    cpu_limit: Annotated[int, Field(ge=1, le=192)] = 32
    memory_request_gib: Annotated[int, Field(ge=1, le=4096)] | None = None
    memory_limit_gib: Annotated[int, Field(ge=1, le=4096)] | None = None
    shm_gib: Annotated[int, Field(ge=1, le=1024)] | None = None
    """Size of /dev/shm, a memory volume, which counts against the memory limit."""
    drain_seconds: PositiveSeconds = 300
    """How long running requests may go on after the pod is told to stop."""
    startup_budget_seconds: PositiveSeconds | None = None
    """From container start to the first healthy answer, at most; None: from the size of the weights."""

    @field_validator("model")
    @classmethod
    def _known_model(cls, value: str) -> str:
        try:
            find_model(value)
        except UnknownFactError as error:
            raise ValueError(str(error)) from None
        return value

    @field_validator("vllm_version")
    @classmethod
    def _readable_version(cls, value: str) -> str:
        try:
            return str(vllm_version(value))
        except UnknownFactError as error:
            raise ValueError(str(error)) from None

    @property
    def version(self) -> VllmVersion:
        """What this vLLM version decides."""
        return vllm_version(self.vllm_version)

    @property
    def model_facts(self) -> Model:
        """The catalog's facts of the model."""
        return find_model(self.model)
