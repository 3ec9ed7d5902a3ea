"""Launch templates and their versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.cloud.account import Account
from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain

LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
TEMPLATE_VERSION = "launch template version"
"""Kept beside each template: a node group may stay on an older version than the latest."""


def template_of(group_inputs: Mapping[str, Plain], account: Account) -> dict[str, Any] | None:
    """The version of the launch template that a node group names, or None where it names none.

    Raises:
        AwsError: there is no such template or version.
    """
    named = group_inputs.get("launchTemplate")
    if not isinstance(named, Mapping):
        return None
    wanted = named.get("id") or named.get("name")
    found = [item for item in account.of_type(LAUNCH_TEMPLATE) if wanted in (item.id, item.inputs.get("name"))]
    if not found:
        raise AwsError("InvalidRequestException", f"Launch template {wanted} doesn't exist.")
    version = str(named["version"])
    number = {"$Latest": found[0].outputs["latestVersion"], "$Default": found[0].outputs["defaultVersion"]}.get(version)
    content = account.get(TEMPLATE_VERSION, f"{found[0].id}:{number or version}")
    if content is None:
        raise AwsError("InvalidRequestException", f"Launch template {wanted} has no version {version}.")
    return content.inputs
