"""What the program's ``aws.Provider`` is set to, as far as the stand-in plays it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.cloud.errors import StandInError
from sandbox.cloud.values import UNKNOWN, Plain

DOCUMENTATION_ACCOUNT = "123456789012"
"""The account id of AWS's own examples: it is nobody's."""


@dataclass(frozen=True)
class ProviderSettings:
    """Region, account and the tags that every resource gets."""

    region: str
    account: str = DOCUMENTATION_ACCOUNT
    default_tags: Mapping[str, str] = field(default_factory=dict)

    def words(self) -> dict[str, str]:
        """For the templates of ids and ARNs."""
        return {"region": self.region, "account": self.account}


def provider_settings(inputs: Mapping[str, Plain]) -> ProviderSettings:
    """The settings from the provider resource's inputs; nested values may come as JSON text.

    The stand-in plays the account that the program allows, so that its check of the account id passes.

    Raises:
        StandInError: no region.
    """
    values = {key: _decoded(value) for key, value in inputs.items()}
    region = values.get("region")
    if region is None or region is UNKNOWN:
        raise StandInError("The aws provider has no region. Give the explicit provider its `region`.")
    accounts = values.get("allowedAccountIds") or [DOCUMENTATION_ACCOUNT]
    tags = (values.get("defaultTags") or {}).get("tags") or {}
    return ProviderSettings(str(region), str(accounts[0]), tags)


def _decoded(value: Plain) -> Plain:
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
