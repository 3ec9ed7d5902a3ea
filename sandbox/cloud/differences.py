"""What a change of inputs means: which properties differ, and whether the resource must be replaced for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sandbox.cloud.resource_types import ResourceType
from sandbox.cloud.values import UNKNOWN, Plain, without_indices


@dataclass(frozen=True)
class Difference:
    """One property that changes: its path, whether it is new or goes, and whether its change replaces the resource."""

    path: str
    added: bool
    deleted: bool
    replaces: bool


def differences(row: ResourceType, old: Mapping[str, Plain], new: Mapping[str, Plain]) -> list[Difference]:
    """Every property that differs. A value that is not known yet counts as different."""
    return [
        Difference(path, added=was is None, deleted=now is None, replaces=row.forces_replacement(without_indices(path)))
        for path, was, now in _changes(old, new, "")
    ]


def deletes_before_replacing(row: ResourceType, old: Mapping[str, Plain], new: Mapping[str, Plain]) -> bool:
    """Whether the new one can't exist beside the old one, because both would have the same given name."""
    return row.name is not None and old.get(row.name) is not None and old.get(row.name) == new.get(row.name)


def _changes(old: Plain, new: Plain, path: str) -> Iterator[tuple[str, Plain, Plain]]:
    if old is not UNKNOWN and old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            if not key.startswith("__"):
                yield from _changes(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list):
        if _is_set(old) and _is_set(new):
            if sorted(old) != sorted(new):
                yield path, old, new
            return
        for index in range(max(len(old), len(new))):
            was = old[index] if index < len(old) else None
            now = new[index] if index < len(new) else None
            yield from _changes(was, now, f"{path}[{index}]")
    else:
        yield path, old, new


def _is_set(values: list[Plain]) -> bool:
    """Lists of text are sets in the Terraform provider's schemas of the types used: their order means nothing."""
    return all(isinstance(value, str) for value in values)
