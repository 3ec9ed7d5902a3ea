"""One model served by vLLM on GPU nodes, tensor parallelism inside one NVLink domain.

Inputs: a ``ModelServerPlan`` (all numbers decided), the name of the cache claim, whether its nodes are there
(``nodes_expected``: a capacity block that has not begun has none). Outputs: ``deployment``, ``endpoint`` (inside the
cluster). Creates: Deployment, Service, PodDisruptionBudget, PodMonitor. The Hugging Face token is a key of an existing
Secret.
Replacement: the name replaces everything. Anything in the pod rolls the pods one at a time, without spare GPUs.
Day two: KEDA owns ``replicas`` where an autoscaler is set.
"""

from __future__ import annotations

from typing import Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.custom_resource import custom_resource
from components.manifests.deployment import deployment_body
from components.manifests.pod_disruption_budget import pod_disruption_budget_body
from components.manifests.pod_monitor import pod_monitor_body
from components.manifests.service import service_body
from components.manifests.vllm_arguments import PORT
from components.model_server_plan import ModelServerPlan

TYPE: Final = "gpu-inference:index:ModelServer"
SKIP_AWAIT: Final = "pulumi.com/skipAwait"


class ModelServer(pulumi.ComponentResource):
    """See the module's text."""

    deployment: kubernetes.apps.v1.Deployment
    endpoint: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        plan: ModelServerPlan,
        *,
        claim_name: str,
        max_replicas: int,
        nodes_expected: bool = True,
        custom_resource_definitions: tuple[pulumi.Resource, ...],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        # The autoscaler is a component of its own: its values are no change of this one.
        super().__init__(TYPE, name, plan.args.model_copy(update={"autoscaler": None}).plain(), opts)
        child = pulumi.ResourceOptions(parent=self)
        timeouts = _timeouts(plan, max_replicas)

        deployment = deployment_body(plan, claim_name)
        service = service_body(plan)
        if not nodes_expected:
            # Its pods stay Pending until there are nodes: no reason for this run to wait, and to fail.
            for body in (deployment, service):
                body["metadata"] = {**body["metadata"], "annotations": {SKIP_AWAIT: "true"}}
        self.deployment = kubernetes.apps.v1.Deployment(
            name,
            metadata=deployment["metadata"],
            spec=deployment["spec"],
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(custom_timeouts=timeouts)),
        )
        # Depends on nothing and nothing on it: a Service awaits ready endpoints, so it follows its pods by itself.
        created = kubernetes.core.v1.Service(
            name,
            metadata=service["metadata"],
            spec=service["spec"],
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(custom_timeouts=timeouts)),
        )
        budget = pod_disruption_budget_body(plan)
        kubernetes.policy.v1.PodDisruptionBudget(name, metadata=budget["metadata"], spec=budget["spec"], opts=child)
        monitor = pod_monitor_body(plan)
        after_definitions = pulumi.ResourceOptions(depends_on=list(custom_resource_definitions))
        custom_resource(name, monitor, pulumi.ResourceOptions.merge(child, after_definitions))
        self.endpoint = pulumi.Output.concat(
            "http://", created.metadata["name"], ".", created.metadata["namespace"], f".svc.cluster.local:{PORT}/v1"
        )
        self.register_outputs({"endpoint": self.endpoint})


def _timeouts(plan: ModelServerPlan, max_replicas: int) -> pulumi.CustomTimeouts:
    """Pulumi's own patience: all replicas start at once on create, but roll one after the other on update."""
    one = plan.progress_deadline_seconds
    return pulumi.CustomTimeouts(
        create=f"{one}s", update=f"{one * max_replicas}s", delete=f"{plan.termination_grace_seconds + 120}s"
    )
