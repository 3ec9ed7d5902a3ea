"""A liveness probe that restarts a busy server."""

from __future__ import annotations

from policies.admission.model import AdmissionRule
from policies.rules.liveness_tolerance import RULE as PACK_RULE

_TIMEOUT = "c.body.livenessProbe.?timeoutSeconds.orValue(1)"
_PERIOD = "c.body.livenessProbe.?periodSeconds.orValue(10)"
_FAILURES = "c.body.livenessProbe.?failureThreshold.orValue(3)"

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.servers.filter(c, has(c.body.livenessProbe) && has(c.body.livenessProbe.httpGet)
  && ((({_TIMEOUT} > {_PERIOD} ? {_TIMEOUT} : {_PERIOD}) * {_FAILURES} <= %(hasty_seconds)s)
    || ({_TIMEOUT} < %(timeout_seconds)s && {_PERIOD} * {_FAILURES} <= %(window_seconds)s))).map(c,
  'livenessProbe of container ' + c.name + ' restarts a saturated engine: it allows '
  + string({_TIMEOUT}) + ' s an answer. Set timeoutSeconds: 10, '
  + 'failureThreshold: 6.')
""",
)
