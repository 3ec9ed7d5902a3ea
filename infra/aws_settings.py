"""The sections of a stack file that only a cluster of our own needs: account, region, tags."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.arguments import Args, NotEmpty
from components.aws_arguments import AccountId, Region, Tags


class AwsSettings(Args):
    """Where everything is made, and in whose account."""

    region: Region
    allowed_account_ids: Annotated[tuple[AccountId, ...], NotEmpty]
    """The provider refuses to touch any other account, whatever credentials the shell has."""
    default_tags: Tags = Field(default_factory=dict)
    """On every AWS resource that takes tags, beside ``Project``, ``Stack`` and ``ManagedBy``."""

    def tags(self, stack: str) -> dict[str, str]:
        """All tags of a stack's resources."""
        return {"Project": "gpu-inference", "Stack": stack, "ManagedBy": "pulumi", **self.default_tags}
