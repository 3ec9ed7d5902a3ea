"""What the serving half of the program needs from the cluster half, whichever cluster it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes


@dataclass(frozen=True)
class ClusterParts:
    """A cluster to put models on."""

    provider: kubernetes.Provider
    kubeconfig: pulumi.Input[str]
    """For the stack's outputs: a path, or the JSON of an EKS cluster (which holds no credential)."""
    platform: list[pulumi.Resource] = field(default_factory=list)
    """What must be there before a pod without GPUs can run: system nodes and add-ons."""
    node_groups: Mapping[str, list[pulumi.Resource]] = field(default_factory=dict)
    """The EKS node groups of each entry in ``node_groups``."""
    groups_without_nodes: frozenset[str] = frozenset()
    """Entries of ``node_groups`` that have no node now, since no capacity block of theirs is running."""
    cache_source: dict[str, Any] | None = None
    """What the model cache's static volume mounts; None: a storage class makes it."""
    cache_ready: list[pulumi.Resource] = field(default_factory=list)
    aws_provider: aws.Provider | None = None
    cluster_name: pulumi.Input[str] | None = None
