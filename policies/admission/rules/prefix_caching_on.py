"""A flag that switches prefix caching off on a server that generates text."""

from __future__ import annotations

from catalog.model_names import bare_name
from catalog.models import models
from policies.admission.cel import SEPARATOR, let, pattern, strings
from policies.admission.flags import last_occurrence
from policies.admission.followers import IS_ENGINE
from policies.admission.model import AdmissionRule
from policies.rules.prefix_caching_on import FALSE, NO_GENERATION
from policies.rules.prefix_caching_on import RULE as PACK_RULE
from policies.workloads.servers import MODELS_WITHOUT_GENERATION

_EMBEDDERS = sorted({bare_name(row.name) for row in models().values() if not row.generates})
# Wherever such a word stands: where it is no model or task, the question is only left to the pack.
_POOLS = f"[= {SEPARATOR}](?:{'|'.join(MODELS_WITHOUT_GENERATION)}){SEPARATOR}"
_IS_OFF = (
    f"^{SEPARATOR}--(?:no|disable)[-_]|[= ](?i:{'|'.join(sorted(FALSE))}){SEPARATOR}$|{SEPARATOR}(?i:false){SEPARATOR}$"
)


RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.servers.filter(c, {IS_ENGINE} && !c.arguments.matches({pattern(_POOLS)})
  && !c.arguments.split('{SEPARATOR}').exists(w, w.find(r'[^=]*$').matches({pattern("(?i)" + NO_GENERATION.pattern)}))
  && !{strings(_EMBEDDERS)}.exists(m, c.arguments.lowerAscii().contains(m))
  && {let("last", last_occurrence("c.arguments", "enable_prefix_caching"), f"last.matches({pattern(_IS_OFF)})")}).map(c,
  'container ' + c.name + ' switches prefix caching off: every request computes its whole prompt again. Remove the '
  + 'flag.')
""",
)
