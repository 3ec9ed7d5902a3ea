"""A ScaledObject without triggers, or a prometheus trigger that is never ready. Types are the CRD's own business."""

from __future__ import annotations

from policies.admission.cel import pattern, strings
from policies.admission.model import AdmissionRule
from policies.rules.keda_trigger_required_fields import REQUIRED
from policies.rules.keda_trigger_required_fields import RULE as PACK_RULE

# What both Python and Go read as a finite number.
_NUMBER = r"^\s*[+-]?([0-9_]+\.?[0-9_]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_TRIGGERS = "object.spec.triggers.filter(t, t.type == 'prometheus')"
_MISSING = f"{strings(REQUIRED)}.filter(k, t.metadata[?k].orValue('').trim() == '')"
_THRESHOLD = "t.metadata.?threshold.orValue('')"

RULE = AdmissionRule(
    PACK_RULE,
    f"""
(object.spec.triggers.size() == 0 ?
  ['the ScaledObject has no trigger, so it never scales: add one on vllm:num_requests_waiting.'] : [])
+ {_TRIGGERS}.filter(t, {_MISSING}.size() > 0).map(t,
  'the prometheus trigger has no ' + {_MISSING}.join(' and no ')
  + ', so the ScaledObject is never ready: add it to the trigger\\'s metadata.')
+ {_TRIGGERS}.filter(t, {_THRESHOLD}.trim() != '' && !{_THRESHOLD}.matches({pattern(_NUMBER)})).map(t,
  'the threshold is no number: write it like "5".')
""",
)
