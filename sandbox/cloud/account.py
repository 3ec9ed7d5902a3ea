"""The imaginary AWS account of a sandbox: what exists in it, kept in one SQLite file.

SQLite, because a plugin may be killed at any time and several may run at once. A resource is written in one step, with
the URN that it was created under, so that a create whose engine died can be found again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.cloud.values import leaves

_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
    type TEXT NOT NULL, id TEXT NOT NULL, urn TEXT NOT NULL, inputs TEXT NOT NULL, outputs TEXT NOT NULL,
    PRIMARY KEY (type, id)
)
"""
BUSY_SECONDS = 30.0
_NOT_REFERENCES = frozenset({"name", "namePrefix", "description", "tags", "tagsAll", "labels", "namespace"})
"""Inputs that may hold the same word as an id by chance, and never refer to a resource."""


@dataclass(frozen=True)
class Resource:
    """A resource that exists: its type token, id, the URN it was created under, and its properties as plain values."""

    type: str
    id: str
    urn: str
    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)

    @property
    def arn(self) -> str | None:
        """The ARN, where its type has one."""
        return self.outputs.get("arn")

    @property
    def state(self) -> dict[str, Any]:
        """What the provider reports: inputs, and what AWS adds."""
        return {**self.inputs, **self.outputs}


class Account:
    """The resources in the file at ``path``. A missing file is an empty account; only a write makes it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, resource: Resource) -> None:
        """Create or overwrite."""
        row = (
            resource.type,
            resource.id,
            resource.urn,
            json.dumps(resource.inputs, sort_keys=True),
            json.dumps(resource.outputs, sort_keys=True),
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._connection() as connection:
            connection.execute("INSERT OR REPLACE INTO resources VALUES (?, ?, ?, ?, ?)", row)

    def get(self, type_token: str, resource_id: str) -> Resource | None:
        """The resource, or None."""
        return next((found for found in self._select("type = ? AND id = ?", type_token, resource_id)), None)

    def of_type(self, type_token: str) -> list[Resource]:
        """All resources of a type."""
        return self._select("type = ?", type_token)

    def created_as(self, urn: str) -> Resource | None:
        """The resource that was created under this URN, or None."""
        return next(iter(self._select("urn = ?", urn)), None)

    def everything(self) -> list[Resource]:
        """All resources."""
        return self._select("1")

    def remove(self, resource: Resource) -> None:
        """Delete; one that is gone already is fine."""
        with self._connection() as connection:
            connection.execute("DELETE FROM resources WHERE type = ? AND id = ?", (resource.type, resource.id))

    def users_of(self, resource: Resource) -> list[Resource]:
        """The resources whose inputs name this one, by id or ARN."""
        names = {resource.id, resource.arn} - {None}
        return [other for other in self.everything() if other != resource and names & _referenced(other)]

    def knows(self, identifier: str) -> bool:
        """Whether the identifier belongs to anything here, also to what AWS made beside a resource."""
        return any(
            identifier == resource.id or any(identifier == value for _, value in leaves(resource.outputs))
            for resource in self.everything()
        )

    def _select(self, condition: str, *parameters: str) -> list[Resource]:
        if not self.path.is_file():
            return []
        query = f"SELECT type, id, urn, inputs, outputs FROM resources WHERE {condition} ORDER BY rowid"  # noqa: S608
        with self._connection() as connection:
            rows = connection.execute(query, parameters).fetchall()
        return [Resource(row[0], row[1], row[2], json.loads(row[3]), json.loads(row[4])) for row in rows]

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
        try:
            with connection:
                connection.execute(_SCHEMA)
                yield connection
        finally:
            connection.close()


def _referenced(resource: Resource) -> set[Any]:
    relevant = {key: value for key, value in resource.inputs.items() if key not in _NOT_REFERENCES}
    return {value for _, value in leaves(relevant)}
