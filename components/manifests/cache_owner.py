"""Who owns the cache's files: bodies of a Job for a shared file system and of a DaemonSet for the nodes' own disks.

A fresh Lustre file system and a fresh folder belong to root, and ``fsGroup`` reaches neither (the FSx driver skips it
on ReadWriteMany volumes, the kubelet on host paths; facts/aws.md section 11): a server that isn't root could not write.
"""

from __future__ import annotations

from typing import Any

from catalog.eks_pins import tool_image
from components import gpu_taint
from components.labels import object_labels, selector_labels

_MOUNT = "/cache"
# Cheap where nothing is to do: only what belongs to somebody else is touched. -h: links, not what they point at.
_COMMAND = "find {mount} ! \\( -user {uid} -group {gid} \\) -exec chown -h {uid}:{gid} {{}} +"


def _container(uid: int, gid: int) -> dict[str, Any]:
    return {
        "name": "set-owner",
        "image": tool_image("busybox"),
        "command": ["sh", "-c", _COMMAND.format(mount=_MOUNT, uid=uid, gid=gid)],
        "resources": {
            "requests": {"cpu": "100m", "memory": "64Mi"},
            "limits": {"memory": "256Mi"},
        },
        "volumeMounts": [{"name": "model-cache", "mountPath": _MOUNT}],
        "securityContext": {
            # Root, since only root may give files away; and nothing else that root may.
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["CHOWN", "DAC_OVERRIDE", "FOWNER"]},
        },
    }


def _pod(claim_name: str) -> dict[str, Any]:
    return {
        "volumes": [{"name": "model-cache", "persistentVolumeClaim": {"claimName": claim_name}}],
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
    }


def _on_gpu_nodes() -> dict[str, Any]:
    """GPU nodes, as the GPU operator's feature discovery marks them."""
    present = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}
    terms = [{"matchExpressions": [present]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def owner_job_body(claim_name: str, namespace: str, uid: int, gid: int) -> dict[str, Any]:
    """The Job: once for the file system that all nodes share."""
    name = f"{claim_name}-owner"
    labels = object_labels(name, "model-cache")
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "backoffLimit": 5,
            "template": {
                "metadata": {"labels": labels},
                "spec": {**_pod(claim_name), "restartPolicy": "OnFailure", "containers": [_container(uid, gid)]},
            },
        },
    }


def owner_daemon_set_body(claim_name: str, namespace: str, uid: int, gid: int) -> dict[str, Any]:
    """The DaemonSet: once on every GPU node, also on those that come later; then it sleeps."""
    name = f"{claim_name}-owner"
    labels = object_labels(name, "model-cache")
    sleep = {
        "name": "done",
        "image": tool_image("busybox"),
        "command": ["sh", "-c", "exec sleep 2147483647"],
        "resources": {"requests": {"cpu": "1m", "memory": "4Mi"}, "limits": {"memory": "16Mi"}},
        "securityContext": {"runAsUser": 65534, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": selector_labels(name)},
            "template": {
                "metadata": {"labels": {**labels, **selector_labels(name)}},
                "spec": {
                    **_pod(claim_name),
                    "affinity": _on_gpu_nodes(),
                    "tolerations": [gpu_taint.toleration()],
                    "initContainers": [_container(uid, gid)],
                    "containers": [sleep],
                },
            },
        },
    }
