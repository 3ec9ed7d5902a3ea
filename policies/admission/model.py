"""What an admission rule is: a rule of the pack, and the CEL expression that lists an object's faults against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policies.model import Rule


@dataclass(frozen=True)
class AdmissionRule:
    """One rule in CEL.

    ``faults`` is a CEL expression of type ``list(string)``: a sentence for each fault, in the words of the rule's own
    messages; an empty list admits. It may read ``object`` and the shared ``variables``. What it can't
    decide it must not list, and on no object that the API server takes may it end in an error. ``%(name)s`` stands
    for the rule's parameter of that name; a percent sign of its own is written twice.
    """

    rule: Rule
    faults: str

    def expression(self, parameters: Mapping[str, Any]) -> str:
        """The CEL text with the parameters of an environment filled in."""
        return self.faults % parameters
