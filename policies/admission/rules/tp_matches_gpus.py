"""Ranks that a server starts in a pod against the GPUs that the pod gets; Ray's placement is not seen."""

from __future__ import annotations

from policies.admission.cel import SEPARATOR, pattern
from policies.admission.model import AdmissionRule
from policies.rules.tp_matches_gpus import RULE as PACK_RULE

# vLLM-Omni's stage file says how many ranks there are.
_OMNI = f"{SEPARATOR}--om(?:n|ni)?[= {SEPARATOR}]"

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.parallelism.filter(s, s.server.gpus > 0 && !s.server.other_accelerator
  && !s.server.arguments.matches({pattern(_OMNI)}) && s.server.body.?resources.?claims.orValue([]).size() == 0
  && s.tp * s.pp * s.dp != s.server.gpus * s.nodes).map(s,
  'container ' + s.server.name + ' starts TP ' + string(s.tp) + ' x PP ' + string(s.pp) + ' x DP ' + string(s.dp)
  + (s.nodes > 1 ? ' over ' + string(s.nodes) + ' pods' : '') + ' in a pod with ' + string(s.server.gpus)
  + ' GPUs: fewer ranks leave GPUs idle, more can not start. Set --tensor-parallel-size so that the product is the '
  + 'number of GPUs, or request as many GPUs as there are ranks.')
""",
)
