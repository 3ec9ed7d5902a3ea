"""The serving half of the program: namespace, cache, models. The same on every cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pulumi

from components.admission_policies import AdmissionPolicies
from components.autoscaler import Autoscaler
from components.custom_resource_definitions import CustomResourceDefinitions
from components.external_secrets import ExternalSecrets
from components.model_cache import ModelCache
from components.model_cache_owner import ModelCacheOwner
from components.model_server import ModelServer
from components.serving_namespace import ServingNamespace
from components.weights_prefetch import WeightsPrefetch
from infra.admission import AdmissionPlan
from infra.cache_owner import ROOT, cache_owner
from infra.cluster_parts import ClusterParts
from infra.cost import gpus, usd_per_hour
from infra.node_capacity import maximum_replicas
from infra.plans import DecidedModelServer, plan
from infra.settings import StackSettings
from policies.admission.objects import NAMESPACE_LABEL

# Kinds of cache that one Job fills for all: a node's own disks are filled by the first server on each node.
_SHARED_CACHES = ("fsx", "efs", "storage_class")


def compose_serving(
    settings: StackSettings,
    cluster: ClusterParts,
    definition_files: Sequence[Path],
    admission: AdmissionPlan | None,
) -> None:
    """Declare the Kubernetes objects of the stack and export its outputs."""
    on_cluster = pulumi.ResourceOptions(providers=[cluster.provider])
    definitions = CustomResourceDefinitions("crds", definition_files, opts=on_cluster)
    labels = dict([NAMESPACE_LABEL]) if admission else {}
    namespace = ServingNamespace("namespace", settings.namespace, labels=labels, opts=on_cluster)
    before_workloads = [namespace, *_admission(settings, on_cluster, admission)]
    before_servers = [*before_workloads, *_secrets(settings, cluster, namespace)]
    before_servers += _cache(settings, cluster, on_cluster, before_workloads)

    endpoints: dict[str, pulumi.Output[str]] = {}
    models: dict[str, dict[str, Any]] = {}
    for args in settings.model_servers:
        decided = plan(settings, args)
        most = maximum_replicas(settings, args)
        needed = [*before_servers, *cluster.node_groups.get(args.node_group, [])]
        needed += _weights(settings, cluster, on_cluster, before_servers, decided)
        server = ModelServer(
            args.name,
            decided.plan,
            claim_name=settings.model_cache.claim_name,
            max_replicas=most,
            nodes_expected=args.node_group not in cluster.groups_without_nodes,
            custom_resource_definitions=definitions.resources,
            opts=_after(on_cluster, needed),
        )
        if args.autoscaler:
            Autoscaler(
                args.autoscaler.name,
                decided.plan,
                max_replicas=most,
                prometheus_address=settings.monitoring.prometheus_address,
                opts=_after(on_cluster, [server.deployment, *definitions.resources]),
            )
        endpoints[args.name] = server.endpoint
        models[args.name] = decided.outputs(most)
    pulumi.export("namespace", namespace.name)
    pulumi.export("kubeconfig", cluster.kubeconfig)
    pulumi.export("endpoints", endpoints)
    pulumi.export("models", models)
    pulumi.export("gpus", gpus(settings))
    pulumi.export("usd_per_hour", usd_per_hour(settings))


def _after(opts: pulumi.ResourceOptions, depends_on: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(depends_on)))


def _admission(
    settings: StackSettings, on_cluster: pulumi.ResourceOptions, admission: AdmissionPlan | None
) -> list[pulumi.Resource]:
    """The policies that the API server enforces itself."""
    if admission is None:
        return []
    installed = AdmissionPolicies(
        "admission",
        settings.admission,
        exceptions=admission.exceptions,
        policies=admission.policies,
        opts=on_cluster,
    )
    return [installed]


def _secrets(settings: StackSettings, cluster: ClusterParts, namespace: pulumi.Resource) -> list[pulumi.Resource]:
    """The Secrets that come from AWS Secrets Manager."""
    if not settings.external_secrets or settings.aws is None or cluster.cluster_name is None:
        return []
    providers = [cluster.provider, *([cluster.aws_provider] if cluster.aws_provider else [])]
    return ExternalSecrets(
        "external-secrets",
        settings.external_secrets,
        namespace=settings.namespace.name,
        cluster_name=cluster.cluster_name,
        region=settings.aws.region,
        opts=pulumi.ResourceOptions(providers=providers, depends_on=[namespace]),
    ).secrets


def _cache(
    settings: StackSettings,
    cluster: ClusterParts,
    on_cluster: pulumi.ResourceOptions,
    before: Sequence[pulumi.Resource],
) -> list[pulumi.Resource]:
    """The claim, and its files' owner; what must be there before anybody uses it."""
    args = settings.model_cache
    cache = ModelCache(
        "model-cache",
        args,
        namespace=settings.namespace.name,
        source=cluster.cache_source,
        protect=settings.protect,
        opts=_after(on_cluster, [*before, *cluster.cache_ready]),
    )
    owner = cache_owner(settings)
    if owner == ROOT:
        return [cache]
    groups = [group for made in cluster.node_groups.values() for group in made] if args.kind == "node_local" else []
    owned = ModelCacheOwner(
        "model-cache-owner",
        args.kind,
        claim_name=args.claim_name,
        namespace=settings.namespace.name,
        owner=owner,
        opts=_after(on_cluster, [cache, *cluster.platform, *groups]),
    )
    return [cache, *owned.done]


def _weights(
    settings: StackSettings,
    cluster: ClusterParts,
    on_cluster: pulumi.ResourceOptions,
    before: Sequence[pulumi.Resource],
    decided: DecidedModelServer,
) -> list[pulumi.Resource]:
    """The Job that fetches a server's weights once, where all nodes share the cache."""
    if not settings.model_cache.prefetch or settings.model_cache.kind not in _SHARED_CACHES:
        return []
    args = decided.plan.args
    prefetch = WeightsPrefetch(
        f"{args.name}-weights",
        decided.plan,
        claim_name=settings.model_cache.claim_name,
        opts=_after(on_cluster, [*before, *cluster.platform]),
    )
    return [prefetch.job]
