"""How many ranks a server starts, as CEL sees it: TP, PP, data-parallel ranks in this pod, and nodes.

Only servers whose flags show all four are listed; where Ray places the ranks, flags don't show it.
"""

from __future__ import annotations

from policies.admission.cel import SEPARATOR, let, pattern
from policies.admission.flags import doubt, switch, whole_number

_RAY = f"[= {SEPARATOR}]ray{SEPARATOR}|multi-node-serving\\.sh|run_cluster\\.sh"
_ONE_RANK_HERE = ("data_parallel_rank", "data_parallel_external_lb")


def parallelism() -> str:
    """CEL of the variable ``parallelism``; reads ``servers``."""

    def whole(dest: str, default: int = 1) -> str:
        return whole_number("c.arguments", dest, default)

    local = whole("data_parallel_size_local", -2)
    one_here = f"c.arguments.matches({pattern(switch(*_ONE_RANK_HERE))})"
    local = let("local", local, f"local != -2 ? local : {one_here} ? 1 : {whole('data_parallel_size')}")
    unsure = f"c.arguments.matches({pattern(doubt(*_ONE_RANK_HERE))}) || c.arguments.matches({pattern(_RAY)})"
    sizes = (
        f"{{'server': dyn(c), 'tp': dyn({whole('tensor_parallel_size')}), "
        f"'pp': dyn({whole('pipeline_parallel_size')}), "
        f"'dp': dyn({local}), 'nodes': dyn({whole('nnodes')})}}"
    )
    decided = "s.tp > 0 && s.pp > 0 && s.dp >= 0 && s.nodes > 0"
    return f"variables.servers.filter(c, c.sees_all && !({unsure})).map(c, {sizes}).filter(s, {decided})"
