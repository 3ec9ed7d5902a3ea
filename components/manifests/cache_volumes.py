"""The volume and the claim of the model cache. ReadWriteMany, whatever is behind it.

On AWS the volume is static: the file system is a resource of the program, protected and visible, not made by a driver.
"""

from __future__ import annotations

from typing import Any

import pulumi

from components.labels import object_labels

NODE_LOCAL_PATH = "/mnt/k8s-disks/0/model-cache"
"""On the RAID0 of the local disks, where nodeadm mounts it (facts/aws.md 3.4)."""
READ_WRITE_MANY = ["ReadWriteMany"]


def lustre_source(
    file_system_id: pulumi.Input[str], dns_name: pulumi.Input[str], mount_name: pulumi.Input[str]
) -> dict[str, Any]:
    """What an FSx volume mounts. ``flock``: Hugging Face's downloads lock files."""
    return {
        "csi": {
            "driver": "fsx.csi.aws.com",
            "volumeHandle": file_system_id,
            "volumeAttributes": {"dnsname": dns_name, "mountname": mount_name},
        },
        "mountOptions": ["flock"],
    }


def elastic_source(file_system_id: pulumi.Input[str], access_point_id: pulumi.Input[str]) -> dict[str, Any]:
    """What an EFS volume mounts: an access point, which gives its files the servers' user; TLS on the way."""
    handle = pulumi.Output.concat(file_system_id, "::", access_point_id)
    return {"csi": {"driver": "efs.csi.aws.com", "volumeHandle": handle}, "mountOptions": ["tls"]}


def node_local_source() -> dict[str, Any]:
    """A folder on each node's own disks. One claim, but as many copies as nodes."""
    return {"hostPath": {"path": NODE_LOCAL_PATH, "type": "DirectoryOrCreate"}}


def volume_body(name: str, storage_gib: int, claim_name: str, namespace: str, source: dict[str, Any]) -> dict[str, Any]:
    """The PersistentVolume object, for one claim only. ``Retain``: a deleted claim deletes no weights."""
    return {
        "metadata": {"name": name, "labels": object_labels(claim_name, "model-cache")},
        "spec": {
            "accessModes": READ_WRITE_MANY,
            "capacity": {"storage": f"{storage_gib}Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
            "volumeMode": "Filesystem",
            "claimRef": {"namespace": namespace, "name": claim_name},
            **source,
        },
    }


def claim_body(
    claim_name: str, storage_gib: int, namespace: str, *, storage_class: str = "", volume_name: str | None = None
) -> dict[str, Any]:
    """The PersistentVolumeClaim object: of a class, or of one volume (then the class is the empty one)."""
    spec: dict[str, Any] = {
        "accessModes": READ_WRITE_MANY,
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": f"{storage_gib}Gi"}},
    }
    if volume_name is not None:
        spec["volumeName"] = volume_name
    metadata = {"name": claim_name, "namespace": namespace, "labels": object_labels(claim_name, "model-cache")}
    return {"metadata": metadata, "spec": spec}
