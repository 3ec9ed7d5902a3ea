"""Every number of a model server, decided before any object is built: what the stack says, else what sizing derives."""

from __future__ import annotations

import math
from dataclasses import dataclass

from catalog.instance_types import InstanceType
from components.model_server_args import ModelServerArgs

# Endpoints take a moment to forget a pod that is told to stop (facts/serving.md 1.5: 15 s, as KServe has it).
ENDPOINT_REMOVAL_SECONDS = 15
# What is left of the grace period for the process to end once requests are done.
STOP_MARGIN_SECONDS = 45
# Scheduling, pulling a 15-30 GB image and mounting, before the container starts (facts/aws.md section 7 #24).
POD_START_SECONDS = 600


@dataclass(frozen=True)
class ModelServerPlan:
    """A model server with nothing left to decide. Sizes in GiB, times in seconds."""

    args: ModelServerArgs
    namespace: str
    instance_type: InstanceType
    release_label: str
    """The label ``release`` that Prometheus selects monitors by."""
    shm_gib: int
    memory_request_gib: int
    memory_limit_gib: int
    max_num_seqs: int
    waiting_requests_per_replica: int
    startup_budget_seconds: int

    @property
    def trust_remote_code(self) -> bool:
        """As the stack says, else as the model needs it or the version's manifest has it."""
        if self.args.trust_remote_code is not None:
            return self.args.trust_remote_code
        return self.args.model_facts.needs_trust_remote_code or self.args.version.trust_remote_code_default

    @property
    def pre_stop_seconds(self) -> int:
        """How long the stopping container waits before SIGTERM.

        Without ``--shutdown-timeout`` SIGTERM aborts running requests, so the wait itself must be the drain.
        """
        if self.args.version.has_shutdown_timeout:
            return ENDPOINT_REMOVAL_SECONDS
        return ENDPOINT_REMOVAL_SECONDS + self.args.drain_seconds

    @property
    def termination_grace_seconds(self) -> int:
        """Longer than the wait and the drain together, or the kubelet cuts the drain."""
        return ENDPOINT_REMOVAL_SECONDS + self.args.drain_seconds + STOP_MARGIN_SECONDS

    @property
    def startup_failure_threshold(self) -> int:
        """Startup probes, one each 10 s, that may fail before the container is restarted."""
        return math.ceil(self.startup_budget_seconds / 10)

    @property
    def progress_deadline_seconds(self) -> int:
        """How long one replaced pod may take: the old one drains, the new one starts and loads."""
        return self.termination_grace_seconds + POD_START_SECONDS + self.startup_failure_threshold * 10
