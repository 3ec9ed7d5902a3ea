"""KEDA's ScaledObject for one model server.

Inputs: the server's plan, the most replicas that its nodes can hold, Prometheus's address. Creates: one ScaledObject.
Raises: ValueError where the server has no autoscaler section. Replacement: its name.
Day two: KEDA's HPA owns the Deployment's ``replicas`` from here on; deleting this leaves the number as it is.
"""

from __future__ import annotations

from typing import Final

import pulumi

from components.custom_resource import custom_resource
from components.manifests.scaled_object import scaled_object_body
from components.model_server_plan import ModelServerPlan

TYPE: Final = "gpu-inference:index:Autoscaler"


class Autoscaler(pulumi.ComponentResource):
    """See the module's text."""

    def __init__(
        self,
        name: str,
        plan: ModelServerPlan,
        *,
        max_replicas: int,
        prometheus_address: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        body = scaled_object_body(plan, max_replicas, prometheus_address)
        super().__init__(TYPE, name, {"scaled_object": body["spec"]}, opts)
        custom_resource(name, body, pulumi.ResourceOptions(parent=self))
        self.register_outputs({})
