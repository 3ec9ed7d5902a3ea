"""GPU ranks in a pod against its /dev/shm."""

from __future__ import annotations

from policies.admission.cel import let, pattern
from policies.admission.containers import SHELL
from policies.admission.model import AdmissionRule
from policies.rules.shm_size import RULE as PACK_RULE

_IS_SHM = pattern("^/dev/+shm/*$")
_FOLLOWERS = f"""
variables.containers.filter(c, c.arguments == '' && c.is_vllm && c.gpus > 1 && !c.text.matches({pattern(SHELL)})
  ).map(c, {{'c': dyn(c), 'ranks': c.gpus}})
"""
_SERVERS = """
variables.parallelism.map(s, {'c': s.server, 'ranks': dyn((s.tp * s.pp * s.dp + s.nodes - 1) / s.nodes)})
"""
_MOUNTS = f"r.c.body.?volumeMounts.orValue([]).filter(m, m.mountPath.matches({_IS_SHM}))"
_VOLUMES = "r.c.pod.?volumes.orValue([]).filter(v, v.name == mounts[0].name)"
_IS_MEMORY = f"""
volumes.exists(v, has(v.emptyDir) ? v.emptyDir.?medium.orValue('') == 'Memory' :
  v.?hostPath.?path.orValue('').matches({_IS_SHM}))
"""
# Doubles throughout: an environment may state either parameter with a fraction, and CEL mixes no types.
_NEED_GIB = "double(%(gib_per_rank)s) * double(r.ranks)"
_NEED_BYTES = f"double(%(tolerance)s) * {_NEED_GIB} * 1073741824.0"
_IS_SMALL = f"""
volumes.exists(v, isQuantity(string(v.?emptyDir.?sizeLimit.orValue(dyn('')))) &&
  quantity(string(v.?emptyDir.?sizeLimit.orValue(dyn('')))).asApproximateFloat() < {_NEED_BYTES})
"""
_FAULT = let(
    "mounts",
    _MOUNTS,
    "mounts.size() == 0 ? 'on the runtime\\'s 64 MiB of /dev/shm' : "
    + let(
        "volumes",
        _VOLUMES,
        f"!{_IS_MEMORY} ? 'on a /dev/shm that is no memory volume' : "
        f"{_IS_SMALL} ? 'on a /dev/shm smaller than the ' + string({_NEED_GIB}) + ' GiB that they need' : ''",
    ),
)

RULE = AdmissionRule(
    PACK_RULE,
    f"""
({_SERVERS} + {_FOLLOWERS}).filter(r, r.ranks > 1 && !r.c.other_accelerator && !r.c.pod.?hostIPC.orValue(false)).map(r,
  {{'r': dyn(r), 'fault': dyn({_FAULT})}}).filter(f, f.fault != '').map(f,
  'container ' + f.r.c.name + ' runs ' + string(f.r.ranks) + ' GPU ranks ' + f.fault
  + ': mount an emptyDir with medium: Memory and sizeLimit: 16Gi for each eight ranks at /dev/shm.')
""",
)
