"""What a preview does to each resource: the engine's steps, gathered by resource.

A replacement is several steps of one resource (create-replacement, replace, delete-replaced); here it is one change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from report.property_paths import Path, parse_path, value_at

Action = Literal["replace", "delete", "create", "update", "import", "same"]
ACTIONS: tuple[Action, ...] = ("replace", "delete", "create", "update", "import", "same")
"""From the one that a reviewer must see first to the one that changes nothing; a resource has the first of its own."""

# The engine's step operations (pkg/resource/deploy/step.go). Those left out read, refresh or forget: nothing changes.
_ACTION_OF_STEP: Mapping[str, Action] = {
    "create": "create",
    "update": "update",
    "delete": "delete",
    "import": "import",
    "replace": "replace",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "import-replacement": "replace",
}
STACK_TYPE = "pulumi:pulumi:Stack"


@dataclass(frozen=True)
class PropertyChange:
    """One property that changes; ``replaces`` where it is the reason for a replacement."""

    path: Path
    text: str
    replaces: bool


@dataclass(frozen=True)
class Change:
    """One resource of a preview, changed or not."""

    urn: str
    type: str
    name: str
    action: Action
    is_component: bool
    """A component groups others; what happens to it happens to them."""
    parent: str
    deleted_first: bool
    """Of a replacement: the old one goes before the new one comes."""
    old: Mapping[str, Any]
    """Inputs before; empty for a new resource."""
    new: Mapping[str, Any]
    """Inputs after; empty for a deleted resource."""
    old_id: str
    properties: tuple[PropertyChange, ...]

    @property
    def kind(self) -> str:
        """``NodeGroup`` of ``aws:eks/nodeGroup:NodeGroup``."""
        return self.type.rpartition(":")[2]

    @property
    def label(self) -> str:
        """``NodeGroup/p5``: how people and acknowledgements name it."""
        return f"{self.kind}/{self.name}"

    def changes_under(self, *roots: Path) -> bool:
        """Whether a property changes at, under or above one of these paths."""
        return any(change.path[: len(root)] == root[: len(change.path)] for change in self.properties for root in roots)


def gather(steps: Iterable[Mapping[str, Any]]) -> tuple[Change, ...]:
    """Changes from the ``metadata`` of the events of planned steps, in the engine's order."""
    by_urn: dict[str, list[Mapping[str, Any]]] = {}
    for step in steps:
        by_urn.setdefault(_text(step.get("urn")), []).append(step)
    return tuple(_change(urn, group) for urn, group in by_urn.items())


def _change(urn: str, steps: list[Mapping[str, Any]]) -> Change:
    operations = [_text(step.get("op")) for step in steps]
    action = min((_ACTION_OF_STEP.get(operation, "same") for operation in operations), key=ACTIONS.index)
    before = next((state for step in steps if (state := _mapping(step.get("old")))), {})
    after = next((state for step in steps if (state := _mapping(step.get("new")))), {})
    if action == "delete":
        after = {}
    old, new = _mapping(before.get("inputs")), _mapping(after.get("inputs"))
    either = after or before
    creating = next((at for at, name in enumerate(operations) if name in ("create-replacement", "replace")), 0)
    return Change(
        urn=urn,
        type=_text(steps[0].get("type")),
        name=urn.rpartition("::")[2],
        action=action,
        is_component=not either.get("custom"),
        parent=_text(either.get("parent")),
        deleted_first=action == "replace" and "delete-replaced" in operations[:creating],
        old=old,
        new=new,
        old_id=_text(before.get("id")),
        properties=_properties(steps, old, new) if action in ("update", "replace") else (),
    )


def _texts(steps: Sequence[Mapping[str, Any]], key: str) -> Iterator[str]:
    """The texts in the lists that the steps hold under ``key``; anything else there is not the engine's."""
    for step in steps:
        held = step.get(key)
        if isinstance(held, list):
            yield from (text for text in held if isinstance(text, str))


def _properties(
    steps: list[Mapping[str, Any]], old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[PropertyChange, ...]:
    stated = next((found for step in steps if (found := _mapping(step.get("detailedDiff")))), {})
    if stated:
        return tuple(
            PropertyChange(parse_path(text), text, _text(_mapping(entry).get("diffKind")).endswith("-replace"))
            for text, entry in stated.items()
        )
    # Providers may state whole properties only, and for components the engine states nothing.
    keys = set(_texts(steps, "keys"))
    named = set(_texts(steps, "diffs"))
    differing = named or {key for key in {*old, *new} if value_at(old, (key,)) != value_at(new, (key,))}
    return tuple(PropertyChange(parse_path(text), text, text in keys) for text in sorted(differing | keys))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
