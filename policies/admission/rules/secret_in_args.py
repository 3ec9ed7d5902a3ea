"""Keys in clear text among a server's arguments, or in a vLLM container's variables."""

from __future__ import annotations

from policies.admission.cel import SEPARATOR, let, pattern, strings
from policies.admission.containers import row_of
from policies.admission.flags import occurrences
from policies.admission.model import AdmissionRule
from policies.rules.secret_in_args import NO_SECRET, VARIABLES
from policies.rules.secret_in_args import RULE as PACK_RULE

_NO_SECRET = tuple(sorted(NO_SECRET))
_FLAG = f"^{SEPARATOR}[^= {SEPARATOR}]+"
_HAS_VALUE = f"{_FLAG}(?:[= ]|{SEPARATOR}{SEPARATOR})[^{SEPARATOR}]"
_IS_HARMLESS = f"{_FLAG}(?:[= ]|{SEPARATOR}{SEPARATOR})(?:{'|'.join(_NO_SECRET)}){SEPARATOR}$"
_ARGUMENTS = f"""
variables.servers.filter(c, {occurrences("c.arguments", "api_key", "hf_token")}.exists(a,
  a.matches({pattern(_HAS_VALUE)}) && !a.matches({pattern(_IS_HARMLESS)}) && !a.contains('$('))).map(c,
  'an argument of container ' + c.name
  + ' carries a key in clear text. Remove --api-key or --hf-token and set VLLM_API_KEY or HF_TOKEN by '
  + 'valueFrom.secretKeyRef.')
"""


def _variable(name: str) -> str:
    is_clear = let(
        "value",
        "rows.map(e, string(e.?value.orValue(dyn('')))).join('')",
        f"value != '' && !(value in {strings(_NO_SECRET)}) && !value.startsWith('$')",
    )
    return f"""
variables.containers.filter(c, c.is_vllm && {let("rows", row_of("c", name), is_clear)}).map(c,
  '{name} of container ' + c.name + ' is written in clear text: take it from a Secret by valueFrom.secretKeyRef.')
"""


RULE = AdmissionRule(PACK_RULE, " + ".join([_ARGUMENTS, *map(_variable, VARIABLES)]))
