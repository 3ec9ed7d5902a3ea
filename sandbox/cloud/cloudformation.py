"""Checks inputs against AWS's own resource schemas, which the PyPI package cfn-lint ships.

Only the one file of a type is read. The schema guides the translation: a property that CloudFormation calls otherwise,
and that ``data/resource_types.yaml`` doesn't rename, is left unchecked. ``mapped_paths`` lets a test hold the share.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sandbox.cloud.resource_types import CloudFormationType, resource_type
from sandbox.cloud.schema_words import coerced, schema_name
from sandbox.cloud.sdk_types import Mistake
from sandbox.cloud.values import UNKNOWN, Plain, without_indices

REGION = "us-east-1"
"""Whose schemas are used: the region with the most types. Values that differ by region are not in them."""

Schema = Mapping[str, Any]


@cache
def schema(cloudformation_type: str) -> Schema:
    """The schema of a CloudFormation type."""
    # Found, not imported: the package's code takes a second to load, and only its data is wanted.
    spec = find_spec("cfnlint")
    assert spec is not None, "requirements.txt has cfn-lint"
    data = Path((spec.submodule_search_locations or [""])[0]) / "data" / "schemas"
    digest = json.loads((data / "providers" / f"{REGION}.json").read_text(encoding="utf-8"))[cloudformation_type]
    return json.loads((data / "resources" / f"{digest}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def schema_mistakes(token: str, inputs: Mapping[str, Plain]) -> list[Mistake]:
    """What the schema says against the inputs: enum, pattern, length, range, type; empty for a type without schema."""
    row = resource_type(token).cloudformation
    if row is None:
        return []
    checker = _Checker(row)
    return list(checker.object_mistakes(checker.root, inputs, ""))


def mapped_paths(token: str, inputs: Mapping[str, Plain]) -> tuple[list[str], list[str]]:
    """The paths of inputs that the schema checks, and those that it has no word for."""
    row = resource_type(token).cloudformation
    if row is None:
        return [], sorted(inputs)
    checker = _Checker(row)
    list(checker.object_mistakes(checker.root, inputs, ""))
    return sorted(checker.mapped), sorted(checker.unmapped)


class _Checker:
    """Walks inputs and schema side by side."""

    def __init__(self, row: CloudFormationType) -> None:
        self.root = schema(row.type)
        self._row = row
        self._definitions = self.root.get("definitions", {})
        self.mapped: set[str] = set()
        self.unmapped: set[str] = set()

    def object_mistakes(self, node: Schema, value: Mapping[str, Plain], path: str) -> Iterator[Mistake]:
        for name, item in value.items():
            here = f"{path}.{name}" if path else name
            if name in ("tags", "tagsAll", "region") or item is None:
                continue  # in CloudFormation tags are a list of pairs, and a region is no property
            found = self._property(node, name, without_indices(here), at_root=not path)
            if found is None:
                self.unmapped.add(without_indices(here))
                continue
            self.mapped.add(without_indices(here))
            yield from self._value_mistakes(found, item, here)

    def _property(self, node: Schema, name: str, path: str, *, at_root: bool) -> Schema | None:
        properties = self._resolved(node).get("properties", {})
        word = schema_name(name, path, properties, self._row.names)
        if word is not None:
            return self._resolved(properties[word])
        if at_root and self._row.below:
            return self._property(properties[self._row.below], name, path, at_root=False)
        return None

    def _resolved(self, node: Schema) -> Schema:
        if "$ref" in node:
            return self._resolved(self._definitions[node["$ref"].rpartition("/")[2]])
        return node

    def _value_mistakes(self, node: Schema, value: Plain, path: str) -> Iterator[Mistake]:
        if value is UNKNOWN:
            return
        if isinstance(value, list):
            if node.get("type") == "array":
                yield from _length_mistakes(node, value, path, "minItems", "maxItems", "entries")
                for index, item in enumerate(value):
                    yield from self._value_mistakes(self._resolved(node.get("items", {})), item, f"{path}[{index}]")
            elif len(value) == 1:  # Terraform writes some single objects as lists of one
                yield from self._value_mistakes(node, value[0], path)
        elif isinstance(value, Mapping):
            if node.get("type") == "array":  # and Pulumi some lists of one as the object
                yield from self._value_mistakes(self._resolved(node.get("items", {})), value, path)
            elif "properties" in node:
                yield from self.object_mistakes(node, value, path)
        else:
            yield from _scalar_mistakes(node, value, path)


def _scalar_mistakes(node: Schema, value: Plain, path: str) -> Iterator[Mistake]:
    wanted = node.get("type")
    value = coerced(value, wanted) if isinstance(wanted, str) else value
    if "enum" in node and value not in node["enum"]:
        yield Mistake(path, f"{value!r} is not known to AWS; allowed: {', '.join(map(str, sorted(node['enum'])))}")
        return
    if isinstance(value, str):
        yield from _length_mistakes(node, value, path, "minLength", "maxLength", "characters")
        if "pattern" in node and not _matches(node["pattern"], value):
            yield Mistake(path, f"{value!r} does not have the form that AWS wants: {node['pattern']}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < node.get("minimum", value):
            yield Mistake(path, f"{value} is less than {node['minimum']}, the least that AWS takes")
        if value > node.get("maximum", value):
            yield Mistake(path, f"{value} is more than {node['maximum']}, the most that AWS takes")


def _length_mistakes(
    node: Schema, value: str | list[Plain], path: str, least: str, most: str, what: str
) -> Iterator[Mistake]:
    if len(value) < node.get(least, 0):
        yield Mistake(path, f"has {len(value)} {what}; AWS wants {node[least]} at least")
    if len(value) > node.get(most, len(value)):
        yield Mistake(path, f"has {len(value)} {what}; AWS takes {node[most]} at most")


def _matches(pattern: str, value: str) -> bool:
    """JSON schema patterns are JavaScript's; one that Python doesn't understand checks nothing."""
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True
