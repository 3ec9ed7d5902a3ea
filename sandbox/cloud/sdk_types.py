"""What the official Python SDK says about a resource type: its inputs, their types, which are required, its outputs.

Read from the classes of ``pulumi_aws`` themselves, so no list of ours can fall behind the SDK.
"""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import json
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pulumi_aws
from pulumi import _types

from sandbox.cloud.errors import StandInError
from sandbox.cloud.values import UNKNOWN, Plain, snake_case


@dataclass(frozen=True)
class Mistake:
    """One thing wrong with an input: Pulumi's path of it, and a sentence."""

    path: str
    message: str


@dataclass(frozen=True)
class Field:
    """One input: its Python type with the SDK's wrappers removed, and whether it must be given."""

    type: Any
    required: bool


@cache
def resource_class(token: str) -> type:
    """The SDK's class of a type token such as ``aws:ec2/vpc:Vpc``.

    Raises:
        StandInError: the SDK has no such type.
    """
    _, module, name = token.split(":")
    try:
        return getattr(getattr(pulumi_aws, module.partition("/")[0]), name)  # type: ignore[no-any-return]
    except AttributeError:
        raise StandInError(f"pulumi_aws has no resource type {token}.") from None


@cache
def input_fields(token: str) -> Mapping[str, Field]:
    """The inputs of a resource type by Pulumi's camelCase name."""
    cls = resource_class(token)
    return _fields(getattr(importlib.import_module(cls.__module__), f"{cls.__name__}Args"))


@cache
def output_names(token: str) -> frozenset[str]:
    """Every property that a resource of this type may have once it is there."""
    return frozenset(_types.resource_types(resource_class(token)))


@cache
def computed_names(token: str) -> frozenset[str]:
    """The properties that AWS fills in where the program doesn't: the SDK's outputs that are never absent."""
    cls = resource_class(token)
    return frozenset(
        pulumi_name
        for pulumi_name, python_name in _types.resource_pulumi_to_py_names(cls).items()
        if pulumi_name in output_names(token) and not _may_be_absent(inspect.getattr_static(cls, python_name))
    )


def mistakes(token: str, inputs: Mapping[str, Plain]) -> list[Mistake]:
    """What the SDK's types say against these inputs: unknown names, missing ones, wrong types."""
    return list(_object_mistakes(input_fields(token), inputs, ""))


@cache
def _fields(cls: type) -> Mapping[str, Field]:
    names = _types.input_type_py_to_pulumi_names(cls)
    types = _types.input_type_types(cls)
    parameters = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    return {
        pulumi_name: Field(_unwrapped(types[pulumi_name]), parameters[python_name].default is inspect.Parameter.empty)
        for python_name, pulumi_name in names.items()
    }


def _unwrapped(annotation: Any) -> Any:
    """The type without Input, Output, Awaitable and Optional around it."""
    origin = typing.get_origin(annotation)
    if origin is typing.Union:
        for option in typing.get_args(annotation):
            if option is not type(None) and not _is_plumbing(option):
                return _unwrapped(option)
    if origin in (list, collections.abc.Sequence):
        return list[_unwrapped(typing.get_args(annotation)[0])]  # type: ignore[misc]
    if origin in (dict, collections.abc.Mapping):
        return dict[str, _unwrapped(typing.get_args(annotation)[1])]  # type: ignore[misc]
    return annotation


def _may_be_absent(getter: property) -> bool:
    """Whether a getter answers ``Output[Optional[...]]``."""
    assert getter.fget is not None
    value = typing.get_args(getter.fget.__annotations__["return"])[0]
    return typing.get_origin(value) is typing.Union and type(None) in typing.get_args(value)


def _is_plumbing(option: Any) -> bool:
    return typing.get_origin(option) is collections.abc.Awaitable or getattr(
        typing.get_origin(option) or option, "__name__", ""
    ) in ("Output", "Awaitable")


def _object_mistakes(fields: Mapping[str, Field], value: Mapping[str, Plain], path: str) -> Iterator[Mistake]:
    prefix = f"{path}." if path else ""
    for name, item in value.items():
        if name.startswith("__"):
            continue
        if name not in fields:
            allowed = ", ".join(snake_case(known) for known in sorted(fields))
            yield Mistake(f"{prefix}{name}", f"unknown property {name!r}; the SDK has: {allowed}")
        elif item is not None:
            yield from _value_mistakes(fields[name].type, item, f"{prefix}{name}")
    for name, found in fields.items():
        if found.required and value.get(name) is None:
            yield Mistake(f"{prefix}{name}", "is missing and required")


def _value_mistakes(expected: Any, value: Plain, path: str) -> Iterator[Mistake]:
    if value is UNKNOWN:
        return
    origin = typing.get_origin(expected)
    if origin is list:
        if not isinstance(value, list):
            yield Mistake(path, f"must be a list, and is {_shown(value)}")
            return
        for index, item in enumerate(value):
            yield from _value_mistakes(typing.get_args(expected)[0], item, f"{path}[{index}]")
    elif origin is dict:
        if not isinstance(value, dict):
            yield Mistake(path, f"must be a map, and is {_shown(value)}")
            return
        for key, item in value.items():
            yield from _value_mistakes(typing.get_args(expected)[1], item, f"{path}.{key}")
    elif _types.is_input_type(expected) if isinstance(expected, type) else False:
        if not isinstance(value, dict):
            yield Mistake(path, f"must be an object, and is {_shown(value)}")
            return
        yield from _object_mistakes(_fields(expected), value, path)
    elif expected in _SCALARS and not isinstance(value, _SCALARS[expected]):
        yield Mistake(path, f"must be {_WORDS[expected]}, and is {_shown(value)}")
    elif expected is int and isinstance(value, bool):
        yield Mistake(path, f"must be a whole number, and is {_shown(value)}")


# The bridge turns numbers and truth values into text where the schema says text.
_SCALARS: dict[Any, tuple[type, ...]] = {str: (str, int, float, bool), int: (int,), float: (int, float), bool: (bool,)}
_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _shown(value: Plain) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= 80 else f"{text[:77]}..."
