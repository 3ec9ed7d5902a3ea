"""The cluster half of the program on AWS: network, EKS, add-ons, node groups, file system. In this order, for reasons.

The network's routes come before any node; vpc-cni and the Pod Identity agent before nodes too, or none becomes Ready;
CoreDNS and the rest after the system nodes, which they run on. Nothing here depends on a model: changing one, its
replicas or its image touches no resource of this half.
"""

from __future__ import annotations

import datetime
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

from catalog.eks_pins import eks_pins
from components.cluster_add_ons import BEFORE_NODES, ClusterAddOns, after_nodes
from components.eks_cluster import EksCluster
from components.eks_cluster_args import EksClusterArgs
from components.elastic_file_system import ElasticFileSystem
from components.gpu_node_group import GpuNodeGroup
from components.lustre_file_system import LustreFileSystem
from components.manifests.cache_volumes import node_local_source
from components.network import Network
from components.network_args import NetworkArgs
from components.node_group_plan import plan_node_groups
from components.node_role import NodeRole
from components.storage_classes import StorageClasses
from components.system_node_group import SystemNodeGroup, SystemNodesArgs
from infra.aws_checks import gpu_zones, lustre_zone
from infra.aws_settings import AwsSettings
from infra.cache_owner import cache_owner
from infra.cluster_parts import ClusterParts
from infra.cluster_provider import cluster_provider
from infra.cluster_version import cluster_version
from infra.settings import StackSettings


def compose_aws(
    settings: StackSettings, eks_args: EksClusterArgs, stack: str, cluster_identifier: str, now: datetime.datetime
) -> ClusterParts:
    """Declare the cluster and everything under it; ``now`` decides the sizes of groups on capacity blocks."""
    assert settings.aws is not None  # checked: aws_checks
    assert settings.network is not None
    provider = aws_provider(settings.aws, stack)
    on_aws = pulumi.ResourceOptions(providers=[provider, eks.Provider("eks")])
    region = settings.aws.region

    network = Network(
        "network",
        settings.network,
        gpu_zones=gpu_zones(settings),
        cluster_name=eks_args.name,
        region=region,
        protect=settings.protect,
        opts=on_aws,
    )
    cluster = EksCluster(
        "cluster",
        eks_args,
        version=cluster_version(eks_pins().kubernetes_version, eks_args.name, provider),
        vpc_id=network.vpc_id,
        public_subnet_ids=network.public_subnet_ids,
        private_subnet_ids=network.private_subnet_ids,
        region=region,
        protect=settings.protect,
        opts=on_aws,
    )
    networking = ClusterAddOns("networking", BEFORE_NODES, cluster_name=cluster.name, region=region, opts=on_aws)
    role = NodeRole("nodes", region=region, opts=on_aws)
    before_nodes = [*network.routes, *networking.add_ons, *role.rights]
    system = SystemNodeGroup(
        settings.system_nodes or SystemNodesArgs(),
        cluster_name=cluster.name,
        subnet_ids=network.private_subnet_ids,
        node_role_arn=role.arn,
        tags=settings.aws.tags(stack),
        depends_on=before_nodes,
        opts=on_aws,
    )
    services = ClusterAddOns(
        "services",
        after_nodes(settings.model_cache.kind),
        cluster_name=cluster.name,
        region=region,
        opts=pulumi.ResourceOptions.merge(on_aws, pulumi.ResourceOptions(depends_on=[system.group])),
    )
    planned_groups = {args.name: plan_node_groups(args, now) for args in settings.node_groups}
    groups: dict[str, list[pulumi.Resource]] = {
        args.name: [
            GpuNodeGroup(
                args,
                planned,
                cluster_name=cluster.name,
                subnet_id=network.gpu_subnet_ids[planned.zone],
                node_role_arn=role.arn,
                cluster_security_group_id=cluster.security_group_id,
                efa_security_group_id=network.efa_security_group_id,
                tags=settings.aws.tags(stack),
                depends_on=before_nodes,
                opts=on_aws,
            ).group
            for planned in planned_groups[args.name]
        ]
        for args in settings.node_groups
    }
    source, cache_ready = _cache(settings, settings.network, network, cluster, on_aws)
    in_cluster = cluster_provider(cluster.kubeconfig, cluster_identifier)
    StorageClasses("storage", opts=pulumi.ResourceOptions(providers=[in_cluster]))
    return ClusterParts(
        provider=in_cluster,
        kubeconfig=cluster.kubeconfig,
        platform=[system.group, *services.add_ons],
        node_groups=groups,
        groups_without_nodes=frozenset(
            name for name, made in planned_groups.items() if not any(group.desired for group in made)
        ),
        cache_source=source,
        cache_ready=cache_ready,
        aws_provider=provider,
        cluster_name=cluster.name,
    )


def aws_provider(settings: AwsSettings, stack: str) -> aws.Provider:
    """The one AWS provider of the stack: its region, only its accounts, its tags."""
    return aws.Provider(
        "aws",
        region=settings.region,
        allowed_account_ids=list(settings.allowed_account_ids),
        default_tags={"tags": settings.tags(stack)},
    )


def _cache(
    settings: StackSettings,
    network_args: NetworkArgs,
    network: Network,
    cluster: EksCluster,
    on_aws: pulumi.ResourceOptions,
) -> tuple[dict[str, Any] | None, list[pulumi.Resource]]:
    """What the model cache mounts, and what must be there before it can."""
    args = settings.model_cache
    if args.kind == "fsx":
        lustre = LustreFileSystem(
            "model-cache",
            args.lustre,
            storage_gib=args.storage_gib,
            vpc_id=network.vpc_id,
            subnet_id=network.gpu_subnet_ids[lustre_zone(settings)],
            node_security_group_id=cluster.security_group_id,
            protect=settings.protect,
            opts=on_aws,
        )
        return lustre.source, [lustre.file_system]
    if args.efs is not None:
        elastic = ElasticFileSystem(
            "model-cache",
            args.efs,
            vpc_id=network.vpc_id,
            vpc_cidr=network_args.cidr,
            subnet_ids=network.private_subnet_ids_by_zone,
            owner=cache_owner(settings),
            protect=settings.protect,
            opts=on_aws,
        )
        return elastic.source, elastic.mounted
    return (node_local_source() if args.kind == "node_local" else None), []
