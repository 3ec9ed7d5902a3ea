"""A flag and its value in one argument of a server."""

from __future__ import annotations

from policies.admission.cel import SEPARATOR, pattern
from policies.admission.model import AdmissionRule
from policies.rules.arg_embedded_space import RULE as PACK_RULE

_FLAG = r"^--?[A-Za-z][\w.-]*"
_FLAG_AND_VALUE = _FLAG + r"[ \t\n]+\S"
_IS_BOTH = f"w.matches({pattern(_FLAG_AND_VALUE)})"
_WORDS = f"c.arguments.split('{SEPARATOR}')"

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.servers.filter(c, {_WORDS}.exists(w, {_IS_BOTH})).map(c,
  'one argument of container ' + c.name + ' holds ' + {_WORDS}.filter(w, {_IS_BOTH})[0].find({pattern(_FLAG)})
  + ' and its value with a space between: vLLM gets an unknown flag. Write --flag=value, or two entries.')
""",
)
