"""Kubernetes' own rule for whether a pod may run on a tainted node."""

from __future__ import annotations

from typing import Any

from policies.unknowns import mappings, text


def tolerates(tolerations: Any, taint: dict[str, str]) -> bool:
    """Whether one of a pod's tolerations covers a taint (``key``, ``value``, ``effect``).

    Raises:
        NotDecidedError: the tolerations are not known yet.
    """
    return any(_covers(toleration, taint) for toleration in mappings(tolerations))


def _covers(toleration: dict[str, Any], taint: dict[str, str]) -> bool:
    key, effect = text(toleration.get("key")), text(toleration.get("effect"))
    if effect and effect != taint["effect"]:
        return False
    if text(toleration.get("operator")) == "Exists":
        return not key or key == taint["key"]
    return key == taint["key"] and (text(toleration.get("value")) or "") == taint["value"]
