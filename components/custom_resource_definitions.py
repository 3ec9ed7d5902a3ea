"""The CRDs of the operators whose objects we create, as a step of their own before those objects.

Inputs: the CRD files (from the pinned Go modules of KEDA and the Prometheus operator). Outputs: none; ``resources`` is
what other objects depend on. Creates: one CustomResourceDefinition a file. Own step, so that they can be upgraded: Helm
installs CRDs once and never again (facts/pulumi.md 3.3).
Raises: OSError where a file can't be read. Replacement: never by an upgrade; deleting one deletes its objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pulumi
import yaml

from components.custom_resource import custom_resource

TYPE: Final = "gpu-inference:index:CustomResourceDefinitions"
# Controller-gen's own marker; the provider would see a diff at each of its releases.
_DROPPED_ANNOTATIONS: Final = ("controller-gen.kubebuilder.io/version",)


def definition_body(text: str) -> dict[str, Any]:
    """The CRD in a YAML text, without what only its generator reads."""
    body: dict[str, Any] = yaml.safe_load(text)
    annotations = {
        key: value for key, value in body["metadata"].get("annotations", {}).items() if key not in _DROPPED_ANNOTATIONS
    }
    # An empty map would be a change at every run: the API server drops it.
    body["metadata"] = {"name": body["metadata"]["name"], **({"annotations": annotations} if annotations else {})}
    return body


class CustomResourceDefinitions(pulumi.ComponentResource):
    """See the module's text."""

    resources: tuple[pulumi.Resource, ...]

    def __init__(self, name: str, files: Sequence[Path], *, opts: pulumi.ResourceOptions | None = None) -> None:
        bodies = [definition_body(file.read_text(encoding="utf-8")) for file in files]
        super().__init__(TYPE, name, {"definitions": [body["metadata"]["name"] for body in bodies]}, opts)
        self.resources = tuple(
            custom_resource(f"{name}-{body['metadata']['name']}", body, pulumi.ResourceOptions(parent=self))
            for body in bodies
        )
        self.register_outputs({})
