"""The cluster half of the program where the cluster is already there: a provider on its kubeconfig, nothing else."""

from __future__ import annotations

from pathlib import Path

from components.manifests.cache_volumes import node_local_source
from infra.cluster_parts import ClusterParts
from infra.cluster_provider import cluster_provider
from infra.settings import ExistingCluster, StackSettings


def compose_existing(
    settings: StackSettings, existing: ExistingCluster, kubeconfig: Path, cluster_identifier: str
) -> ClusterParts:
    """The provider. The kubeconfig goes in as a path: its content may change, and none of it belongs into the state."""
    provider = cluster_provider(str(kubeconfig), cluster_identifier, existing.context)
    source = node_local_source() if settings.model_cache.kind == "node_local" else None
    return ClusterParts(provider, str(kubeconfig), cache_source=source)
