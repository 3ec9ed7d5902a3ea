"""A multi-node server on the host network that names neither interface nor address."""

from __future__ import annotations

from policies.admission.containers import row_of
from policies.admission.model import AdmissionRule
from policies.rules.hostnetwork_gloo_ifname import RULE as PACK_RULE


def _is_set(name: str) -> str:
    return f"{row_of('s.server', name)}.exists(e, has(e.valueFrom) || string(e.?value.orValue(dyn(''))) != '')"


RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.parallelism.filter(s, s.nodes > 1 && s.server.pod.?hostNetwork.orValue(false)
  && s.server.body.?envFrom.orValue([]).size() == 0
  && !{_is_set("GLOO_SOCKET_IFNAME")} && !{_is_set("VLLM_HOST_IP")}).map(s,
  'container ' + s.server.name + ' of a multi-node engine is on the host network without GLOO_SOCKET_IFNAME or '
  + 'VLLM_HOST_IP: Gloo advertises 127.0.0.1. Set VLLM_HOST_IP from status.podIP.')
""",
)
