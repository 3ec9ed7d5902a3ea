"""Images of an engine's containers whose tag floats."""

from __future__ import annotations

from policies.admission.cel import let, pattern, strings
from policies.admission.model import AdmissionRule
from policies.rules.image_pinned import FLOATING, ONE_OFF, VERSION_OR_COMMIT
from policies.rules.image_pinned import RULE as PACK_RULE

# The last part of the repository and its tag; a colon before it belongs to a registry's port.
_TAG = "c.image.find(r'[^/]*$').split(':')"
_FLOATING = f"(?i)(^|[-_.])({'|'.join(sorted(FLOATING))})([-_.]|$)"
_FLOATS = let(
    "tag",
    _TAG,
    "tag.size() < 2 || tag[1] == '' || "
    f"(tag[1].matches({pattern(_FLOATING)}) && !tag[1].matches({pattern(VERSION_OR_COMMIT.pattern)}))",
)
_ONE_OFF_KINDS = strings([kind.partition(".")[0] for kind in ONE_OFF])

RULE = AdmissionRule(
    PACK_RULE,
    f"""
variables.all_containers.filter(c, c.image != '' && !c.image.contains('$') && !c.image.contains('@')
  && ((c.gpus > 0 && !(object.kind in {_ONE_OFF_KINDS})) || c.is_vllm)
  && variables.containers.exists(o, o.template == c.template && (o.gpus > 0 || o.arguments != ''))
  && {_FLOATS}).map(c,
  'image ' + c.image + ' of container ' + c.name + ' floats: what runs depends on the node\\'s cache. Write '
  + '<repository>:<version>@sha256:<digest>.')
""",
)
