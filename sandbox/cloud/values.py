"""Between the SDK's ``PropertyValue`` and plain Python, with one object that stands for "not known yet"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi.provider.experimental.property_value import Computed, PropertyValue
from pulumi.runtime.rpc import UNKNOWN as UNKNOWN_SIGN


class _Unknown:
    """A value that only a deployment will know; it equals nothing but itself."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = _Unknown()

Plain = Any
"""None, bool, int, float, str, ``UNKNOWN``, or a list or dict (by Pulumi's camelCase names) of these."""


def to_plain(value: PropertyValue) -> Plain:
    """The plain value; whole numbers become ``int`` (the wire has only floats)."""
    inner = value.value
    if isinstance(inner, Computed) or inner == UNKNOWN_SIGN:  # the SDK overlooks the sign in some places
        return UNKNOWN
    if isinstance(inner, Mapping):
        return {key: to_plain(item) for key, item in inner.items()}
    if isinstance(inner, list | tuple):
        return [to_plain(item) for item in inner]
    if isinstance(inner, float) and inner.is_integer():
        return int(inner)
    return inner


def to_plain_map(properties: Mapping[str, PropertyValue]) -> dict[str, Plain]:
    """A resource's properties, without nulls: the wire has null and absent for the same thing."""
    plain = {key: to_plain(value) for key, value in properties.items()}
    return {key: value for key, value in plain.items() if value is not None}


def to_property(value: Plain) -> PropertyValue:
    """The opposite of ``to_plain``. The SDK reads "computed" but can't write it: its sign on the wire is this text."""
    if value is UNKNOWN:
        return PropertyValue(UNKNOWN_SIGN)
    if isinstance(value, Mapping):
        return PropertyValue({key: to_property(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return PropertyValue([to_property(item) for item in value])
    return PropertyValue(float(value) if isinstance(value, int) and not isinstance(value, bool) else value)


def to_property_map(values: Mapping[str, Plain]) -> dict[str, PropertyValue]:
    """A resource's properties for the wire."""
    return {key: to_property(value) for key, value in values.items()}


def leaves(value: Plain, path: str = "") -> Iterator[tuple[str, Plain]]:
    """Every scalar (and ``UNKNOWN``) with its path, such as ``networkInterfaces[1].deviceIndex``."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def without_indices(path: str) -> str:
    """``launchTemplate[0].id`` as ``launchTemplate.id``."""
    return re.sub(r"\[\d+\]", "", path)


def snake_case(name: str) -> str:
    """``networkCardIndex`` as ``network_card_index``: how the Python SDK calls it, for messages."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
