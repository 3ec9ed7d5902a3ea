"""A server that nothing drains, or whose drain is longer than its grace period."""

from __future__ import annotations

from policies.admission.cel import let, pattern
from policies.admission.flags import whole_number
from policies.admission.followers import IS_ENGINE
from policies.admission.model import AdmissionRule
from policies.rules.grace_vs_drain import RULE as PACK_RULE

_HOOK = "c.body.?lifecycle.?preStop"
_SLEEP = r"\bsleep\s+[0-9]+(?:\.[0-9]+)?"
_SLEEPS = f"{_HOOK}.?exec.?command.orValue([]).join(' ').findAll({pattern(_SLEEP)})"
# -1: a hook that doesn't say how long it takes.
_BEFORE_SECONDS = f"""
{_HOOK}.orValue({{}}).size() == 0 ? 0.0 :
{_HOOK}.?sleep.?seconds.hasValue() ? double({_HOOK}.sleep.seconds.orValue(0)) :
{let("sleeps", _SLEEPS, "sleeps.size() == 0 ? -1.0 : sleeps.map(s, double(s.find(r'[0-9.]+$'))).sum()")}
"""


RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.servers.filter(c, c.sees_all && {IS_ENGINE}).map(c, {{
  'name': dyn(c.name), 'before': dyn({_BEFORE_SECONDS}),
  'drain': dyn(double({whole_number("c.arguments", "shutdown_timeout", 0)})),
  'grace': dyn(double(c.pod.?terminationGracePeriodSeconds.orValue(30)))
}}).filter(s, s.before >= 0.0 && s.drain >= 0.0 && (s.before + s.drain == 0.0 || s.before + s.drain > s.grace)).map(s,
  s.before + s.drain == 0.0 ?
  'nothing drains container ' + s.name + ': SIGTERM aborts running generations while new ones still arrive. Add '
  + 'preStop sleep, --shutdown-timeout where the version has it, and a longer terminationGracePeriodSeconds.' :
  'container ' + s.name + ' drains for ' + string(s.before + s.drain) + ' s and is killed after ' + string(s.grace)
  + ' s. Set terminationGracePeriodSeconds above that.')
""",
)
