"""Hugging Face tokens in clear text among the variables; what a shell script sets is not seen."""

from __future__ import annotations

from policies.admission.cel import string, strings
from policies.admission.model import AdmissionRule
from policies.rules.hf_token_secret import RULE as PACK_RULE
from policies.rules.hf_token_secret import TOKEN_LENGTH, TOKEN_PREFIX, TOKEN_VARIABLES

_VALUE = "string(e.?value.orValue(dyn('')))"
_IS_TOKEN = f"""
{_VALUE} != '' && !{_VALUE}.startsWith('$(') && (e.name in {strings(TOKEN_VARIABLES)} ||
  ({_VALUE}.startsWith({string(TOKEN_PREFIX)}) && {_VALUE}.size() >= {TOKEN_LENGTH} && !{_VALUE}.contains('/')))
"""

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.all_containers.filter(c, c.env.exists(e, {_IS_TOKEN})).map(c,
  c.env.filter(e, {_IS_TOKEN}).map(e, e.name).join(', ') + ' of container ' + c.name
  + ' is written in clear text: take it from a Secret by valueFrom.secretKeyRef.')
""",
)
