"""The shared cache of model weights: one claim that every replica mounts.

Inputs: claim name, size in GiB, storage class. Outputs: ``claim_name``. Creates: one PersistentVolumeClaim,
ReadWriteMany, so that replicas on different nodes share one copy (ReadWriteOnce keeps the second pod Pending).
Replacement: name, storage class and access mode replace the claim and lose the weights; the size may only grow.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import pulumi
import pulumi_kubernetes as kubernetes
from pydantic import Field

from components.arguments import Args, ObjectName
from components.labels import object_labels

TYPE: Final = "gpu-inference:index:ModelCache"


class ModelCacheArgs(Args):
    """The stack's ``model_cache`` section."""

    claim_name: ObjectName = "pvc-hf-model-cache"
    storage_gib: Annotated[int, Field(ge=1, le=1_048_576)]
    """At least the weights of every model that is served, once."""
    storage_class: str


def claim_body(args: ModelCacheArgs, namespace: str) -> dict[str, Any]:
    """The PersistentVolumeClaim object."""
    return {
        "metadata": {
            "name": args.claim_name,
            "namespace": namespace,
            "labels": object_labels(args.claim_name, "model-cache"),
        },
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": args.storage_class,
            "resources": {"requests": {"storage": f"{args.storage_gib}Gi"}},
        },
    }


class ModelCache(pulumi.ComponentResource):
    """See the module's text."""

    claim_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ModelCacheArgs,
        *,
        namespace: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, args.plain(), opts)
        body = claim_body(args, namespace)
        claim = kubernetes.core.v1.PersistentVolumeClaim(
            name, metadata=body["metadata"], spec=body["spec"], opts=pulumi.ResourceOptions(parent=self)
        )
        self.claim_name = claim.metadata["name"]
        self.register_outputs({"claim_name": self.claim_name})
