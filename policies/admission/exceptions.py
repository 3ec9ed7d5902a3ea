"""Exceptions from admission: entries of one ConfigMap that only administrators can write.

CEL has no clock, so it can't end an exception. Whoever writes the ConfigMap does: the program leaves out what has
expired, and a waiver annotation on the workload counts for nothing here.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from policies.admission.cel import string

CONFIG_MAP_NAME = "admission-exceptions"


@dataclass(frozen=True)
class AdmissionException:
    """An object that one rule lets pass, up to and including the day ``until``. ``object`` is ``Deployment/chat``."""

    rule: str
    namespace: str
    object: str
    reason: str
    owner: str
    until: datetime.date

    @property
    def key(self) -> str:
        """The entry's key: rule, namespace, kind and name, of which only the last may hold dots."""
        return ".".join((self.rule, self.namespace, *self.object.split("/", 1)))


def config_map_body(namespace: str, exceptions: Iterable[AdmissionException]) -> dict[str, Any]:
    """The ConfigMap with the exceptions that hold."""
    data = {item.key: f"reason: {item.reason}; owner: {item.owner}; until: {item.until}" for item in exceptions}
    return {"metadata": {"name": CONFIG_MAP_NAME, "namespace": namespace}, "data": data}


def not_excepted(rule: str) -> str:
    """CEL: whether the ConfigMap has no entry for this rule and the object at hand."""
    key = f"{string(rule + '.')} + request.namespace + '.' + object.kind + '.' + object.metadata.name"
    return f"!(({key}) in params.?data.orValue({{}}))"
