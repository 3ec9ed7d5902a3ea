"""The default storage class: gp3, encrypted, made where its first pod runs. EKS brings none that is a default.

Inputs: none. Creates: one StorageClass. Replacement: any change (a class can't be edited; volumes keep theirs).
"""

from __future__ import annotations

from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

TYPE: Final = "gpu-inference:index:StorageClasses"
DEFAULT_CLASS: Final = "gp3"


def default_class_body() -> dict[str, Any]:
    """The StorageClass object."""
    return {
        "metadata": {
            "name": DEFAULT_CLASS,
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "ebs.csi.aws.com",
        "parameters": {"type": "gp3", "encrypted": "true"},
        "volume_binding_mode": "WaitForFirstConsumer",
        "allow_volume_expansion": True,
        "reclaim_policy": "Delete",
    }


class StorageClasses(pulumi.ComponentResource):
    """See the module's text."""

    def __init__(self, name: str, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, name, {}, opts)
        kubernetes.storage.v1.StorageClass(
            f"{name}-{DEFAULT_CLASS}",
            **default_class_body(),
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.register_outputs({})
