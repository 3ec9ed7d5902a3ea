"""An object of a CRD, made from a whole body: the engine sends it as it is, key by key (facts/pulumi.md 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes


def custom_resource(
    name: str, body: Mapping[str, Any], opts: pulumi.ResourceOptions
) -> kubernetes.apiextensions.CustomResource:
    """Declare the object; ``body`` has apiVersion, kind, metadata and spec."""
    return kubernetes.apiextensions.CustomResource(
        name,
        api_version=body["apiVersion"],
        kind=body["kind"],
        metadata=body["metadata"],
        spec=body["spec"],
        opts=opts,
    )
