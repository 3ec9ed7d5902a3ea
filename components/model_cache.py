"""The shared cache of model weights: one claim that every replica mounts.

Inputs: the stack's ``model_cache`` section, and what a static volume mounts (None where a storage class makes it).
Outputs: ``claim_name``. Creates: one PersistentVolumeClaim, ReadWriteMany, so that replicas on different nodes share
one copy (a ReadWriteOnce claim keeps the second pod Pending); the PersistentVolume behind it where it is static.
Replacement: name, storage class and volume replace the claim; the size may only grow. A static volume is kept
(``Retain``): weights live in the file system, not in the claim.
"""

from __future__ import annotations

from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.manifests.cache_volumes import claim_body, volume_body
from components.model_cache_args import ModelCacheArgs

TYPE: Final = "gpu-inference:index:ModelCache"


class ModelCache(pulumi.ComponentResource):
    """See the module's text."""

    claim_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ModelCacheArgs,
        *,
        namespace: str,
        source: dict[str, Any] | None = None,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, args.plain(), opts)
        kept = pulumi.ResourceOptions(parent=self, protect=protect)
        if source is None:
            body = claim_body(args.claim_name, args.storage_gib, namespace, storage_class=args.storage_class or "")
        else:
            # Cluster-wide, so the namespace is in its name.
            volume_name = f"{namespace}-{args.claim_name}"
            volume = volume_body(volume_name, args.storage_gib, args.claim_name, namespace, source)
            made = kubernetes.core.v1.PersistentVolume(
                name, metadata=volume["metadata"], spec=volume["spec"], opts=pulumi.ResourceOptions(parent=self)
            )
            body = claim_body(args.claim_name, args.storage_gib, namespace, volume_name=volume_name)
            kept = pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(depends_on=[made]))
        claim = kubernetes.core.v1.PersistentVolumeClaim(name, metadata=body["metadata"], spec=body["spec"], opts=kept)
        self.claim_name = claim.metadata["name"]
        self.register_outputs({"claim_name": self.claim_name})
