"""From Pulumi's words to those of AWS's own schemas, guided by the schema: what it doesn't know is left unchecked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_TRUTH = {"true": True, "false": False}


def schema_name(name: str, path: str, known: Iterable[str], renamed: Mapping[str, str]) -> str | None:
    """The schema's word for the property ``name`` at Pulumi's ``path``, or None where it has none.

    Renamed ones come first (by path, then by name); then the same word with a capital letter, or in the singular or
    plural (Pulumi writes lists in the plural: ``taints`` for Terraform's ``taint``).
    """
    names = set(known)
    wanted = renamed.get(path) or renamed.get(name)
    if wanted:
        return wanted if wanted in names else None
    capital = name[:1].upper() + name[1:]
    candidates = (name, capital, capital.removesuffix("s"), f"{capital}s", capital.replace("Ids", "Id"))
    return next((candidate for candidate in candidates if candidate in names), None)


def coerced(value: object, wanted: str) -> object:
    """Text that means a truth value or a number as such: the bridge has some of them as text.

    ``wanted`` is a JSON schema type, such as "boolean".
    """
    if isinstance(value, str):
        if wanted == "boolean":
            return _TRUTH.get(value.lower(), value)
        if wanted in ("integer", "number") and value.lstrip("-").isdecimal():
            return int(value)
    if wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value
