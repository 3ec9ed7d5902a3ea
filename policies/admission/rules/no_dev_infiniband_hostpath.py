"""A pod that gets EFA from the device plugin and mounts the host's devices beside it."""

from __future__ import annotations

from policies.admission.cel import pattern
from policies.admission.model import AdmissionRule
from policies.rules.no_dev_infiniband_hostpath import RULE as PACK_RULE
from policies.workloads.pods import EFA_RESOURCE


def _asks(section: str) -> str:
    stated = f"string(c.body.?resources.?{section}['{EFA_RESOURCE}'].orValue(dyn('0')))"
    return f"(isQuantity({stated}) && quantity({stated}).asApproximateFloat() > 0.0)"


_GETS_EFA = f"variables.containers.exists(c, c.template == i && ({_asks('limits')} || {_asks('requests')}))"
_MOUNTS = (
    "variables.pods[i].spec.?volumes.orValue([]).exists(v, "
    f"v.?hostPath.?path.orValue('').matches({pattern('^/dev/+infiniband')}))"
)

RULE = AdmissionRule(
    PACK_RULE,
    f"""
[0, 1].filter(i, i < variables.pods.size() && {_MOUNTS} && {_GETS_EFA}).map(i,
  'the pod gets EFA devices from the device plugin and mounts all of the host\\'s /dev/infiniband beside them: NCCL '
  + 'falls back to TCP. Remove the volume and its mount.')
""",
)
