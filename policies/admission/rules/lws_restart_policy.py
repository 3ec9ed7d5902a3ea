"""Groups of several pods of which one restarts alone."""

from __future__ import annotations

from policies.admission.cel import strings
from policies.admission.model import AdmissionRule
from policies.rules.lws_restart_policy import RESTARTS_ALONE
from policies.rules.lws_restart_policy import RULE as PACK_RULE

_TEMPLATE = "object.spec.leaderWorkerTemplate"

RULE = AdmissionRule(
    PACK_RULE,
    f"""
{_TEMPLATE}.?restartPolicy.orValue('') in {strings(RESTARTS_ALONE)} && {_TEMPLATE}.?size.orValue(1) > 1 ?
  ['restartPolicy ' + {_TEMPLATE}.restartPolicy + ' restarts one pod of ' + string({_TEMPLATE}.size)
  + ': the others stay in the old session. Write restartPolicy: RecreateGroupOnPodRestart.'] : []
""",
)
