"""The one Kubernetes provider of a stack, set up the same for a cluster of ours and for an existing one."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes


def cluster_provider(kubeconfig: pulumi.Input[str], identifier: str, context: str | None = None) -> kubernetes.Provider:
    """``identifier`` names the cluster for good: without one, a changed kubeconfig would look like another cluster."""
    return kubernetes.Provider(
        "cluster",
        kubeconfig=kubeconfig,
        context=context,
        cluster_identifier=identifier,
        enable_server_side_apply=True,
        # Else a changed ConfigMap is deleted and created: admission refuses everything in between.
        enable_config_map_mutable=True,
    )
