"""References between resources that a preview can't know by value, but by the engine's own record of dependencies.

In a preview the id of a resource that isn't made yet is unknown, and so is every property that holds it. The engine
still says on which resources each property depends. Where that leaves no choice, the unknown id becomes the URN of the
resource that it will come from, which ``ResourceSet.referenced`` and its like find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policies.unknowns import Unknown

# Properties that hold references: launchTemplate.id, subnetIds, securityGroups, capacityReservationResourceGroupArn.
_ENDINGS = ("id", "ids", "arn", "arns", "groups", "subnets")


def with_references(body: dict[str, Any], dependencies: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """``body`` with unknown references replaced, by top-level property and the URNs that it depends on.

    One URN stands for every unknown reference of its property; several stand for as many references, in their order;
    otherwise the references stay unknown.
    """
    return {key: _replaced(key, value, dependencies.get(key, ())) for key, value in body.items()}


def _replaced(key: str, value: Any, urns: Sequence[str]) -> Any:
    count = _unknown_references(key, value)
    if not count or len(urns) not in (1, count):
        return value
    remaining = list(urns) if len(urns) == count else list(urns) * count
    return _fill(key, value, remaining)


def _is_reference(key: str, value: Any) -> bool:
    return isinstance(value, Unknown) and key.lower().endswith(_ENDINGS)


def _unknown_references(key: str, value: Any) -> int:
    if isinstance(value, dict):
        return sum(_unknown_references(inner, item) for inner, item in value.items())
    if isinstance(value, list):
        return sum(_unknown_references(key, item) for item in value)
    return int(_is_reference(key, value))


def _fill(key: str, value: Any, urns: list[str]) -> Any:
    if isinstance(value, dict):
        return {inner: _fill(inner, item, urns) for inner, item in value.items()}
    if isinstance(value, list):
        return [_fill(key, item, urns) for item in value]
    return urns.pop(0) if _is_reference(key, value) else value
