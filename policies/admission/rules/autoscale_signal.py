"""CPU or memory beside vLLM's own metrics in one scaler. Whom a scaler without those scales, it doesn't say itself."""

from __future__ import annotations

from policies.admission.cel import pattern
from policies.admission.model import AdmissionRule
from policies.rules.autoscale_signal import RULE as PACK_RULE

_HOST = "['cpu', 'memory']"
# A metric's name, outside quotes and comments; a label's name holds no colon.
_QUERIES_VLLM = pattern(r"""^(?:[^"\x27#]*[^"\x27#A-Za-z0-9_:])?vllm:[a-z]""")
_SCALED_OBJECT = f"""
dyn(object).spec.?triggers.orValue([]).exists(t,
  t.type == 'prometheus' && t.metadata.?query.orValue('').matches({_QUERIES_VLLM})) ?
  dyn(object).spec.triggers.filter(t, t.type in {_HOST}).map(t, string(t.type)) : []
"""
_HPA = f"""
dyn(object).spec.?metrics.orValue([]).exists(m,
  [m.?pods.?metric.?name.orValue(''), m.?object.?metric.?name.orValue(''), m.?external.?metric.?name.orValue('')
  ].exists(n, n.startsWith('vllm:') || n.startsWith('vllm_'))) ?
  dyn(object).spec.metrics.map(m,
    string(m.?resource.?name.orValue(m.?containerResource.?name.orValue(dyn(''))))).filter(n, n in {_HOST}) : []
"""

RULE = AdmissionRule(
    PACK_RULE,
    f"""
(object.kind == 'ScaledObject' ? ({_SCALED_OBJECT}) : ({_HPA})).map(n,
  'it scales on ' + n + ', which says nothing about the queue of a GPU server: remove it and scale on '
  + 'vllm:num_requests_waiting.')
""",
)
