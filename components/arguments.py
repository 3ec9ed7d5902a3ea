"""What every component's Args share: frozen, no unknown keys, and names that Kubernetes accepts."""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints


class Args(BaseModel):
    """Plan-time facts of a component: plain values, immutable; a misspelt key in the stack file is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    def plain(self) -> dict[str, Any]:
        """The args as plain JSON values, for the component's own inputs in the engine's state."""
        return self.model_dump(mode="json", exclude_none=True)


# RFC 1123 label: what a Service, a namespace and a label value may be called.
ObjectName = Annotated[str, StringConstraints(pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=63)]


def _not_empty(value: Sized) -> Sized:
    if not value:
        raise ValueError("has no entry; at least one is needed")
    return value


# Unlike a length constraint it speaks only when every entry is right by itself.
NotEmpty = AfterValidator(_not_empty)
