"""The cluster half of the program where the cluster is already there: a provider on its kubeconfig, nothing else."""

from __future__ import annotations

from pathlib import Path

import pulumi_kubernetes as kubernetes

from components.manifests.cache_volumes import node_local_source
from infra.cluster_parts import ClusterParts
from infra.settings import ExistingCluster, StackSettings


def compose_existing(
    settings: StackSettings, existing: ExistingCluster, kubeconfig: Path, cluster_identifier: str
) -> ClusterParts:
    """The provider. The kubeconfig goes in as a path: its content may change, and none of it belongs into the state."""
    provider = kubernetes.Provider(
        "cluster",
        kubeconfig=str(kubeconfig),
        context=existing.context,
        cluster_identifier=cluster_identifier,
        enable_server_side_apply=True,
        # Else a changed ConfigMap is deleted and created: admission refuses everything in between.
        enable_config_map_mutable=True,
    )
    source = node_local_source() if settings.model_cache.kind == "node_local" else None
    return ClusterParts(provider, str(kubeconfig), cache_source=source)
