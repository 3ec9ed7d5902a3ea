"""Durations as Gateway API, Envoy Gateway and Istio write them (``60s``, ``1h30m``, ``500ms``), in seconds."""

from __future__ import annotations

import re
from typing import Any

from policies.unknowns import text

_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def duration_seconds(value: Any) -> float | None:
    """A duration in seconds; None where there is none or it is malformed.

    Raises:
        NotDecidedError: not known yet.
    """
    written = text(value)
    if not written or not re.fullmatch(f"(?:{_PART.pattern})+", written):
        return None
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(written))
