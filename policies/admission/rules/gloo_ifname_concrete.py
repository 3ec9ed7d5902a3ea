"""GLOO_SOCKET_IFNAME in the form of NCCL's exclusion lists."""

from __future__ import annotations

from policies.admission.cel import pattern
from policies.admission.containers import row_of
from policies.admission.model import AdmissionRule
from policies.rules.gloo_ifname_concrete import RULE as PACK_RULE

_EXCLUDES = pattern(r"^\s*[=^]")
_IS_LIST = f"""
{row_of("c", "GLOO_SOCKET_IFNAME")}.exists(e, string(e.?value.orValue(dyn(''))).matches({_EXCLUDES}))
"""

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.containers.filter(c, {_IS_LIST}).map(c,
  'GLOO_SOCKET_IFNAME of container ' + c.name + ' is an exclusion list: Gloo looks for an interface of that name. Name '
  + 'one interface, for example eth0.')
""",
)
