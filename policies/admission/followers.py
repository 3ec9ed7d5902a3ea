"""Which server stands for an engine, as CEL sees it: one with an API, or the first where all are followers."""

from __future__ import annotations

from policies.admission.cel import pattern
from policies.admission.flags import doubt, switch


def _follows(server: str) -> str:
    arguments = f"{server}.arguments"
    return f"({arguments}.matches({pattern(switch('headless'))}) || {arguments}.matches({pattern(doubt('headless'))}))"


_IS_FIRST = "c.name == variables.servers[0].name && c.template == variables.servers[0].template"

IS_ENGINE = f"(!{_follows('c')} || ({_IS_FIRST} && variables.servers.all(o, {_follows('o')})))"
"""CEL: whether the server ``c`` is to be judged for its engine."""
