"""ReadWriteMany volumes: the default storage class, and a provisioner played by KWOK.

KWOK does what an external provisioner does, and no more: it makes a volume for a claim, and deletes a released one. The
binding is the real volume controller's. On EKS the class is FSx for Lustre's; a simulated node mounts nothing.
"""

from __future__ import annotations

from sandbox.api import Api, Object

STORAGE_CLASS = "sandbox-rwx"
PROVISIONER = "rwx.sandbox.gpu-inference"

STORAGE_CLASS_OBJECT: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {
        "name": STORAGE_CLASS,
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    },
    "provisioner": PROVISIONER,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}

_VOLUME_TEMPLATE = f"""
apiVersion: v1
kind: PersistentVolume
metadata:
  name: pvc-{{{{ .metadata.uid }}}}
  annotations:
    pv.kubernetes.io/provisioned-by: {PROVISIONER}
spec:
  accessModes:
  {{{{ YAML .spec.accessModes 1 }}}}
  capacity:
    storage: {{{{ .spec.resources.requests.storage | Quote }}}}
  volumeMode: {{{{ .spec.volumeMode }}}}
  storageClassName: {STORAGE_CLASS}
  persistentVolumeReclaimPolicy: Delete
  claimRef:
    apiVersion: v1
    kind: PersistentVolumeClaim
    namespace: {{{{ .metadata.namespace }}}}
    name: {{{{ .metadata.name }}}}
    uid: {{{{ .metadata.uid }}}}
  nfs:
    server: simulated.invalid
    path: /pvc-{{{{ .metadata.uid }}}}
"""


def _stage(name: str, kind: str, conditions: list[str], step: Object) -> Object:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": [{"cel": {"expression": condition}} for condition in conditions]},
            "steps": [step],
        },
    }


VOLUME_STAGES: tuple[Object, ...] = (
    _stage(
        "sandbox-volume-provision",
        "PersistentVolumeClaim",
        [f"self.spec.storageClassName == '{STORAGE_CLASS}'", "self.status.phase == 'Pending'"],
        {"apply": {"template": _VOLUME_TEMPLATE}},
    ),
    _stage(
        "sandbox-volume-delete",
        "PersistentVolume",
        [
            f"self.spec.storageClassName == '{STORAGE_CLASS}'",
            "self.spec.persistentVolumeReclaimPolicy == 'Delete'",
            "self.status.phase == 'Released'",
        ],
        {"delete": True},
    ),
)
"""KWOK stages that answer claims of ``STORAGE_CLASS``."""


def apply_storage_class(api: Api) -> None:
    """Create the storage class, or bring it back to what it should be."""
    api.apply(f"/apis/storage.k8s.io/v1/storageclasses/{STORAGE_CLASS}", STORAGE_CLASS_OBJECT)
