"""A liveness probe that restarts a busy server."""

from __future__ import annotations

from policies.admission.model import AdmissionRule
from policies.rules.liveness_tolerance import RULE as PACK_RULE

RULE = AdmissionRule(
    PACK_RULE,
    """
variables.servers.filter(c, has(c.body.livenessProbe) && has(c.body.livenessProbe.httpGet)
  && c.body.livenessProbe.?timeoutSeconds.orValue(1) < %(timeout_seconds)s
  && c.body.livenessProbe.?periodSeconds.orValue(10) * c.body.livenessProbe.?failureThreshold.orValue(3)
    <= %(window_seconds)s).map(c,
  'livenessProbe of container ' + c.name + ' restarts a saturated engine: it allows '
  + string(c.body.livenessProbe.?timeoutSeconds.orValue(1)) + ' s an answer. Set timeoutSeconds: 10, '
  + 'failureThreshold: 6.')
""",
)
