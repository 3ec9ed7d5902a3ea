"""NVIDIA_VISIBLE_DEVICES set by hand in a container that gets GPUs from the device plugin."""

from __future__ import annotations

from policies.admission.containers import row_of
from policies.admission.model import AdmissionRule
from policies.rules.visible_devices_not_set import RULE as PACK_RULE

_IS_SET = f"""
{row_of("c", "NVIDIA_VISIBLE_DEVICES")}.exists(e, has(e.valueFrom) ||
  (!(string(e.?value.orValue(dyn(''))) in ['void', 'none', '']) && !string(e.?value.orValue(dyn(''))).contains('$(')))
"""

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.containers.filter(c, c.gpus > 0 && {_IS_SET}).map(c,
  'container ' + c.name + ' gets ' + string(c.gpus) + ' GPUs from the device plugin and sets NVIDIA_VISIBLE_DEVICES '
  + 'by hand: it then sees other GPUs than its own. Remove the variable.')
""",
)
