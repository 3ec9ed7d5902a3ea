"""The rows of ``data/resource_types.yaml``: what the stand-in knows of each type beyond the SDK's own types."""

from __future__ import annotations

import secrets
import string
import uuid
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from sandbox.cloud.errors import StandInError

DATA = Path(__file__).parent / "data"
HEX_DIGITS = 17
"""Length of EC2's ids after the dash."""
NAME_SUFFIX_DIGITS = 7
"""The bridge's automatic names end in so many random digits."""


class InUse(BaseModel):
    """AWS's answer to the deletion of a resource that another one needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    message: str
    by: tuple[str, ...] = ()


class CloudFormationType(BaseModel):
    """The CloudFormation type with the same meaning, and where its words differ (see ``data/resource_types.yaml``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    below: str | None = None
    names: dict[str, str] = {}


class ResourceType(BaseModel):
    """One row. The keys are explained at the head of the data file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    arn: str | None = None
    name: str | None = None
    name_prefix: str = ""
    outputs: dict[str, Any] = {}
    nested_outputs: dict[str, dict[str, Any]] = {}
    new_on_update: tuple[str, ...] = ()
    replaces: tuple[str, ...]
    source: str
    cloudformation: CloudFormationType | None = None
    in_use: InUse | None = None
    only_names: bool = False

    def forces_replacement(self, path: str) -> bool:
        """Whether a change at ``path`` (without list indices) replaces the resource."""
        return path == "region" or any(path == entry or path.startswith(f"{entry}.") for entry in self.replaces)


@cache
def resource_types() -> Mapping[str, ResourceType]:
    """All rows by type token."""
    rows = yaml.safe_load((DATA / "resource_types.yaml").read_text(encoding="utf-8"))["types"]
    return {token: ResourceType.model_validate(row) for token, row in rows.items()}


def resource_type(token: str) -> ResourceType:
    """The row of a type.

    Raises:
        StandInError: there is none: what replaces such a resource is not known here, so a preview would lie.
    """
    try:
        return resource_types()[token]
    except KeyError:
        raise StandInError(
            f"The sandbox's stand-in for AWS doesn't play {token}. Add a row to sandbox/cloud/data/resource_types.yaml."
        ) from None


def fill(template: Any, words: Mapping[str, Any]) -> Any:
    """The template, at any depth, with its placeholders replaced; ``{hex}`` and its like are new each time."""
    if isinstance(template, str):
        return template.format_map({**words, **_random_words()}) if "{" in template else template
    if isinstance(template, Mapping):
        return {key: fill(item, words) for key, item in template.items()}
    if isinstance(template, list):
        return [fill(item, words) for item in template]
    return template


def automatic_name(row: ResourceType, resource_name: str, seed: bytes) -> str:
    """The name that the provider gives where the program gives none: ``<Pulumi name>-<7 digits>``."""
    suffix = seed.hex()[:NAME_SUFFIX_DIGITS] if seed else secrets.token_hex(4)[:NAME_SUFFIX_DIGITS]
    return f"{row.name_prefix}{resource_name}-{suffix}"


def _random_words() -> dict[str, str]:
    return {
        "hex": secrets.token_hex(HEX_DIGITS)[:HEX_DIGITS],
        "byte": str(1 + secrets.randbelow(254)),
        "number": str(secrets.randbelow(10**10)),
        "uuid": str(uuid.uuid4()),
        "upper": secrets.token_hex(8).upper(),
        "mount": "".join(secrets.choice(string.ascii_lowercase) for _ in range(8)),
    }
