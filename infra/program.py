"""Composes the components of one stack. Structure is decided on the settings alone, never on an Output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.admission_policies import AdmissionPolicies
from components.autoscaler import Autoscaler
from components.custom_resource_definitions import CustomResourceDefinitions
from components.model_cache import ModelCache
from components.model_server import ModelServer
from components.serving_namespace import ServingNamespace
from infra.admission import AdmissionPlan
from infra.cost import gpus, usd_per_hour
from infra.node_capacity import maximum_replicas
from infra.plans import plan
from infra.settings import StackSettings
from policies.admission.objects import NAMESPACE_LABEL


def compose(
    settings: StackSettings,
    stack: str,
    kubeconfig: Path,
    definition_files: Sequence[Path],
    admission: AdmissionPlan | None,
) -> None:
    """Declare every resource of the stack and export its outputs; ``admission`` is None where the stack has none.

    ``kubeconfig`` is passed on as a path: its content (ports, tokens) may change, and none belongs into the state.
    """
    provider = kubernetes.Provider(
        "cluster",
        kubeconfig=str(kubeconfig),
        context=settings.cluster.existing.context,
        # Without an identifier of its own a changed kubeconfig would look like another cluster: everything replaced.
        cluster_identifier=f"gpu-inference-{stack}",
        enable_server_side_apply=True,
        # Else a changed ConfigMap is deleted and created: admission refuses everything in between.
        enable_config_map_mutable=True,
    )
    on_cluster = pulumi.ResourceOptions(providers=[provider])

    definitions = CustomResourceDefinitions("crds", definition_files, opts=on_cluster)
    labels = dict([NAMESPACE_LABEL]) if admission else {}
    namespace = ServingNamespace("namespace", settings.namespace, labels=labels, opts=on_cluster)
    before_workloads: list[pulumi.Resource] = [namespace]
    if admission:
        before_workloads.append(
            AdmissionPolicies(
                "admission",
                settings.admission,
                exceptions=admission.exceptions,
                policies=admission.policies,
                opts=on_cluster,
            )
        )
    in_namespace = pulumi.ResourceOptions.merge(on_cluster, pulumi.ResourceOptions(depends_on=before_workloads))
    ModelCache("model-cache", settings.model_cache, namespace=settings.namespace.name, opts=in_namespace)

    endpoints: dict[str, pulumi.Output[str]] = {}
    models: dict[str, dict[str, Any]] = {}
    for args in settings.model_servers:
        decided = plan(settings, args)
        most = maximum_replicas(settings, args)
        server = ModelServer(
            args.name,
            decided.plan,
            claim_name=settings.model_cache.claim_name,
            max_replicas=most,
            custom_resource_definitions=definitions.resources,
            opts=in_namespace,
        )
        if args.autoscaler:
            Autoscaler(
                args.autoscaler.name,
                decided.plan,
                max_replicas=most,
                prometheus_address=settings.monitoring.prometheus_address,
                opts=pulumi.ResourceOptions.merge(
                    on_cluster, pulumi.ResourceOptions(depends_on=[server.deployment, *definitions.resources])
                ),
            )
        endpoints[args.name] = server.endpoint
        models[args.name] = decided.outputs(most)
    pulumi.export("namespace", namespace.name)
    pulumi.export("kubeconfig", str(kubeconfig))
    pulumi.export("endpoints", endpoints)
    pulumi.export("models", models)
    pulumi.export("gpus", gpus(settings))
    pulumi.export("usd_per_hour", usd_per_hour(settings))
