"""A Job that fetches a model's weights into the cache once, with the server's own image, user and token."""

from __future__ import annotations

from typing import Any

from components.labels import object_labels
from components.manifests.security_contexts import container_security_context, pod_security_context
from components.model_server_plan import ModelServerPlan

# What vLLM never loads; Meta's repositories hold the same weights a second time under original/.
_IGNORED = ["original/*", "*.pth", "*.gguf", "*.onnx"]
_FETCH = "from huggingface_hub import snapshot_download as fetch; fetch({model!r}, ignore_patterns={ignored!r})"


def prefetch_job_body(plan: ModelServerPlan, claim_name: str) -> dict[str, Any]:
    """The Job object. It tolerates no GPU taint: a download needs no GPU, and would keep one from its model."""
    args, version = plan.args, plan.args.version
    name = f"{args.name}-weights"
    labels = object_labels(name, "model-cache")
    token = args.hugging_face_token
    mounts = [{"name": "model-cache", "mountPath": f"{version.home}/.cache/huggingface"}]
    return {
        "metadata": {"name": name, "namespace": plan.namespace, "labels": labels},
        "spec": {
            "backoffLimit": 4,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "OnFailure",
                    "containers": [
                        {
                            "name": "fetch",
                            "image": args.image or version.image,
                            "command": ["python3", "-c", _FETCH.format(model=args.model, ignored=_IGNORED)],
                            "env": [
                                {
                                    "name": version.hugging_face_token_variable,
                                    "valueFrom": {"secretKeyRef": {"name": token.name, "key": token.key}},
                                }
                            ],
                            "resources": {
                                "requests": {"cpu": "1", "memory": "4Gi"},
                                "limits": {"memory": "8Gi"},
                            },
                            "volumeMounts": mounts,
                            "securityContext": container_security_context(version),
                        }
                    ],
                    "volumes": [{"name": "model-cache", "persistentVolumeClaim": {"claimName": claim_name}}],
                    "securityContext": pod_security_context(version),
                    "enableServiceLinks": False,
                    "automountServiceAccountToken": False,
                },
            },
        },
    }
