"""Fills the model cache once, before the servers start: else every replica fetches the same 140 GB side by side.

Inputs: a server's plan, the claim. Outputs: ``job``, what the server depends on. Creates: one Job.
Replacement: another model or image makes another Job; it looks at what is there and fetches what is missing.
"""

from __future__ import annotations

from typing import Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.manifests.prefetch_job import prefetch_job_body
from components.model_server_plan import ModelServerPlan

TYPE: Final = "gpu-inference:index:WeightsPrefetch"
# Pulling a 15-30 GB image on a small node, then up to 700 GB at the 1-2 Gbit/s that a hub gives.
PATIENCE: Final = pulumi.CustomTimeouts(create="120m", update="120m")


class WeightsPrefetch(pulumi.ComponentResource):
    """See the module's text."""

    job: pulumi.Resource

    def __init__(
        self, name: str, plan: ModelServerPlan, *, claim_name: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(TYPE, name, {"model": plan.args.model}, opts)
        body = prefetch_job_body(plan, claim_name)
        self.job = kubernetes.batch.v1.Job(
            name,
            metadata=body["metadata"],
            spec=body["spec"],
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True, custom_timeouts=PATIENCE),
        )
        self.register_outputs({})
