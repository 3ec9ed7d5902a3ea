"""Kubernetes quantities (``512Mi``, ``2``, ``100m``, ``1e3``) as numbers."""

from __future__ import annotations

import re
from typing import Any

from policies.unknowns import text

_FACTORS = {
    "": 1.0,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}
_FORM = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?\s*")


def quantity(value: Any) -> float | None:
    """A quantity in its base unit (bytes, devices, cores); None where there is none or it is malformed.

    Raises:
        NotDecidedError: not known yet.
    """
    stated = text(value)
    match = _FORM.fullmatch(stated) if stated is not None else None
    return float(match.group(1)) * _FACTORS[match.group(2) or ""] if match else None


def gib(value: Any) -> float | None:
    """A memory quantity in GiB (2**30 bytes), or None. Raises NotDecidedError where it is not known yet."""
    size_bytes = quantity(value)
    return None if size_bytes is None else size_bytes / 2**30
