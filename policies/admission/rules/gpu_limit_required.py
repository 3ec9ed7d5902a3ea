"""GPU requests without an equal limit: the API server finds them in pods by itself, but not inside a custom object."""

from __future__ import annotations

from policies.admission.cel import pattern
from policies.admission.containers import GPU
from policies.admission.model import AdmissionRule
from policies.rules.gpu_limit_required import RULE as PACK_RULE

_LIMIT = "c.body.?resources.?limits[n]"
_REQUESTS = "c.body.?resources.?requests.orValue({})"
_DIFFERS = f"""
isQuantity(string({_REQUESTS}[n])) && !(isQuantity(string({_LIMIT}.orValue(dyn('')))) &&
  quantity(string({_LIMIT}.orValue(dyn('')))).compareTo(quantity(string({_REQUESTS}[n]))) == 0)
"""

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.all_containers.filter(c, {_REQUESTS}.exists(n, n.matches({pattern(GPU)}) && {_DIFFERS})).map(c,
  'container ' + c.name + ' requests GPUs without an equal limit. Put them under resources.limits.')
""",
)
