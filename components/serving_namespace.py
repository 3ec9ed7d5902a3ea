"""The namespace that model servers run in.

Inputs: its name, labels that others select it by. Outputs: ``name``. Creates: one Namespace with Pod Security levels.
Pod Security: ``baseline`` is enforced, ``restricted`` is warned about. vLLM's older images run as root, which
``restricted`` refuses; multi-node pods will need IPC_LOCK, which baseline refuses too: their issue decides for them.
Replacement: the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.arguments import Args, ObjectName
from components.labels import object_labels

TYPE: Final = "gpu-inference:index:ServingNamespace"


class ServingNamespaceArgs(Args):
    """The stack's ``namespace`` section."""

    name: ObjectName = "ai-inference"


def namespace_body(args: ServingNamespaceArgs, labels: Mapping[str, str]) -> dict[str, Any]:
    """The Namespace object, with ``labels`` beside our own."""
    pod_security = {
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/warn": "restricted",
        "pod-security.kubernetes.io/audit": "restricted",
    }
    ours = object_labels(args.name, "namespace")
    return {"metadata": {"name": args.name, "labels": {**ours, **pod_security, **labels}}}


class ServingNamespace(pulumi.ComponentResource):
    """See the module's text."""

    name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: ServingNamespaceArgs,
        *,
        labels: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, args.plain(), opts)
        namespace = kubernetes.core.v1.Namespace(
            name, metadata=namespace_body(args, labels)["metadata"], opts=pulumi.ResourceOptions(parent=self)
        )
        self.name = namespace.metadata["name"]
        self.register_outputs({"name": self.name})
