"""Values that a preview does not know yet, and tolerant access to manifests that may hold them.

A manifest is judged as plain data: dicts, lists, strings, numbers. Where the Pulumi engine does not know a value yet,
an ``Unknown`` stands in its place. Asking it anything (its truth, a comparison, its items) raises ``NotDecidedError``,
which the evaluation reports as "not decided yet" for that rule and object. So no rule crashes on an unknown value and
none passes silently because of one. The same holds for shapes: a manifest may be any YAML, so rules read it with
``at``, ``mapping``, ``sequence``, ``text`` and ``number`` only, which answer "nothing there" for a wrong shape.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn


class NotDecidedError(Exception):
    """A rule needs a value that is not known yet. The text says which one."""


class Unknown:
    """A value that is not known yet. ``path`` says where it stands in the object."""

    def __init__(self, path: str = "") -> None:
        self.path = path

    def _refuse(self, *_: object) -> NoReturn:
        raise NotDecidedError(f"{self.path or 'a value'} is not known yet")

    def __bool__(self) -> NoReturn:  # noqa: PLE0304 - to refuse is the point
        """Refuse: nobody knows whether the value is true."""
        self._refuse()

    def __eq__(self, other: object) -> NoReturn:
        """Refuse a comparison."""
        self._refuse(other)

    def __hash__(self) -> NoReturn:  # noqa: PLE0309
        """Refuse to be a key or a member of a set."""
        self._refuse()

    def __iter__(self) -> NoReturn:
        """Refuse: nobody knows the items."""
        self._refuse()

    def __len__(self) -> NoReturn:  # noqa: PLE0303
        """Refuse: nobody knows how many items there are."""
        self._refuse()

    def __str__(self) -> NoReturn:  # noqa: PLE0307
        """Refuse: an unknown value must not end up in a message as if it were a string."""
        self._refuse()

    def __repr__(self) -> str:
        """For a debugger only."""
        return f"Unknown({self.path!r})"


def is_unknown(value: object) -> bool:
    """Whether ``value`` is not known yet."""
    return isinstance(value, Unknown)


def at(value: Any, *path: str | int) -> Any:
    """What stands at ``path`` in plain data; None where there is nothing, ``Unknown`` where a step is unknown."""
    for step in path:
        if isinstance(value, Unknown):
            return value
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def known(value: Any) -> Any:
    """``value`` itself.

    Raises:
        NotDecidedError: the value is unknown.
    """
    if isinstance(value, Unknown):
        raise NotDecidedError(f"{value.path or 'a value'} is not known yet")
    return value


def mapping(value: Any) -> dict[str, Any]:
    """``value`` if it is a dict, else an empty one; only string keys. Raises NotDecidedError for an unknown."""
    value = known(value)
    if not isinstance(value, dict):
        return {}
    return (
        value if all(isinstance(key, str) for key in value) else {k: v for k, v in value.items() if isinstance(k, str)}
    )


def sequence(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one. Raises NotDecidedError for an unknown."""
    value = known(value)
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """The dicts in a list (containers, volumes, ports). Raises NotDecidedError where the list or an item is unknown."""
    return [mapping(item) for item in sequence(value) if isinstance(known(item), dict)]


def text(value: Any) -> str | None:
    """A scalar as text (``8`` and ``8.0`` give ``"8"``), else None. Raises NotDecidedError for an unknown."""
    value = known(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else None


def number(value: Any) -> float | None:
    """A finite number (also from text such as ``"8"``), else None. Raises NotDecidedError for an unknown."""
    value = known(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


def whole(value: Any) -> int | None:
    """``value`` as a whole number, else None. Raises NotDecidedError for an unknown."""
    result = number(value)
    return int(result) if result is not None and result == int(result) else None
