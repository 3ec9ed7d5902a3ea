"""What the rules on pods share, as CEL variables of a policy: pod templates, containers, vLLM servers.

Each container is a map: ``pod`` (its pod's spec), ``template`` (0 or 1: which pod template of the object), ``body``,
``name``, ``image`` (as written), ``env`` (rows), ``gpus`` (-1 where it asks under two names), ``other_accelerator``, ``text`` (command and
args, see ``cel.SEPARATOR``), ``arguments`` (the part of ``text`` that a vLLM server gets; empty where no server can be
seen), ``sees_all`` (whether no option can hide in a ``--config`` file, behind ``--`` or in a variable's value) and
``is_vllm``. Only a shell can read what stands under ``sh -c``: such a container shows no server here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.admission.cel import SEPARATOR, let, one_line, pattern
from policies.admission.flags import doubt, switch, whole_number
from policies.workloads.pods import GPU_RESOURCE, OTHER_ACCELERATOR

GPU = f"^(?:{GPU_RESOURCE.pattern})$"
_OTHER_ACCELERATOR = f"^(?:{OTHER_ACCELERATOR.pattern})$"
SHELL = f"{SEPARATOR}(?:[^{SEPARATOR}]*/)?(?:sh|bash|dash|ash|zsh){SEPARATOR}"
_NO_LAUNCHER = f"^{SEPARATOR}(?:echo|printf|cat|grep|sed|test|\\[){SEPARATOR}"
_CLIENT = f"^{SEPARATOR}(?:bench|chat|complete){SEPARATOR}"
_NEXT = SEPARATOR * 2
_SERVE = (
    f"(?s){SEPARATOR}(?:(?:[^{SEPARATOR}]*/)?vllm{_NEXT}serve"
    rf"|-m{_NEXT}(?:vllm\.entrypoints\.openai\.api_server|vllm\.entrypoints\.api_server"
    rf"|(?:vllm|vllm\.entrypoints\.cli\.main){_NEXT}serve)"
    rf"|[^{SEPARATOR}]*vllm/entrypoints/openai/api_server\.py){SEPARATOR}.*$"
)
# Repositories and tags as policies.workloads.images reads them.
_MENTIONS_VLLM = r"(?i)(^|/)[^/@]*vllm[^/@]*(@.*)?$"
_STOCK_VLLM = r"(^|/)vllm-openai(:[^/@]*)?(@.*)?$"
_LMCACHE = r"(^|/)lmcache/"
_AWS_VLLM = r"deep-learning-containers.*/[^/:@]*vllm[^/:@]*(:[^/@]*)?(@.*)?$"
_SERVER_FLAGS = switch(
    "model", "tensor_parallel_size", "max_model_len", "served_model_name", "gpu_memory_utilization"
)
# A word that a variable gives is one word. After these it is a value; elsewhere it may be any option.
_BEFORE_A_VALUE = (
    "serve",
    "--model",
    "--served-model-name",
    "--host",
    "--port",
    "--tensor-parallel-size",
    "--pipeline-parallel-size",
    "--max-model-len",
    "--api-key",
    "--nnodes",
    "--node-rank",
    "--master-addr",
)
_KNOWN_VALUE = f"(?:^{_NEXT}|{SEPARATOR}(?:{'|'.join(_BEFORE_A_VALUE)}){SEPARATOR}){SEPARATOR}\\$\\("
_ANY_VALUE = f"{SEPARATOR}\\$\\("
_HIDES_MORE = f"{SEPARATOR}--(?:{SEPARATOR}|config[= {SEPARATOR}])"

_PODS = """
object.kind == 'Pod' ? [dyn(object)] :
object.kind == 'CronJob' ? [dyn(object).spec.jobTemplate.spec.template] :
object.kind == 'LeaderWorkerSet' ?
  (has(dyn(object).spec.leaderWorkerTemplate.leaderTemplate) ? [dyn(object).spec.leaderWorkerTemplate.leaderTemplate] : [])
  + [dyn(object).spec.leaderWorkerTemplate.workerTemplate] :
[dyn(object).spec.template]
"""


def _of_both_templates(field: str) -> str:
    """The containers of the one or two pod templates in one list, each with its pod."""
    first, second = (
        f"variables.pods[{index}].spec.{field}.orValue([]).map(c, {{'pod': variables.pods[{index}].spec, "
        f"'template': dyn({index}), 'body': c}})"
        for index in (0, 1)
    )
    return f"{first} + (variables.pods.size() > 1 ? {second} : [])"


_GPUS = let(
    "limits",
    "c.body.?resources.?limits.orValue({})",
    let(
        "requests",
        "c.body.?resources.?requests.orValue({})",
        let(
            "names",
            f"[limits.filter(n, n.matches({pattern(GPU)})), "
            f"requests.filter(n, n.matches({pattern(GPU)}))]",
            "names[0].size() + names[1].size() == 0 ? 0 : names[0].size() > 1 || names[1].size() > 1 ? -1 : "
            + let(
                "stated",
                "string(names[0].size() == 1 ? limits[names[0][0]] : requests[names[1][0]])",
                "isQuantity(stated) ? int(quantity(stated).asApproximateFloat()) : -1",
            ),
        ),
    ),
)


_ARGUMENTS = f"""
(c.body.?command.orValue([]).size() > 0 ?
  (text.matches({pattern(SHELL)}) || text.matches({pattern(_NO_LAUNCHER)}) ? '' : text.find({pattern(_SERVE)})) :
((image.matches({pattern(_STOCK_VLLM)}) && !image.matches({pattern(_LMCACHE)})) || image.matches({pattern(_AWS_VLLM)})
  || (image.matches({pattern(_MENTIONS_VLLM)}) && text.matches({pattern(_SERVER_FLAGS)})))
  && !text.matches({pattern(_CLIENT)}) ? '{_NEXT}' + text : '')
"""
_SEES_ALL = (
    f"!arguments.matches({pattern(_HIDES_MORE)}) && "
    f"arguments.findAll({pattern(_ANY_VALUE)}).size() == arguments.findAll({pattern(_KNOWN_VALUE)}).size()"
)
_TEXT = (
    f"(c.body.?command.orValue([]) + c.body.?args.orValue([])).map(w, '{SEPARATOR}' + string(w) + '{SEPARATOR}').join('')"
)
_HAS_OTHER_ACCELERATOR = (
    "[c.body.?resources.?limits.orValue({}), c.body.?resources.?requests.orValue({})].exists(section, "
    f"section.exists(n, n.matches({pattern(_OTHER_ACCELERATOR)})))"
)
_CONTAINER = f"""
{{
  'pod': c.pod, 'template': c.template, 'body': c.body, 'env': c.body.?env.orValue([]),
  'name': dyn(c.body.?name.orValue('')), 'image': dyn(image), 'text': dyn(text), 'gpus': dyn({_GPUS}),
  'other_accelerator': dyn({_HAS_OTHER_ACCELERATOR}),
  'arguments': dyn(arguments), 'sees_all': dyn({_SEES_ALL}),
  'is_vllm': dyn(arguments != '' || image.matches({pattern(_MENTIONS_VLLM)}))
}}
"""


def _described(field: str) -> str:
    described = let("text", _TEXT, let("arguments", _ARGUMENTS, _CONTAINER))
    described = let("image", "string(c.body.?image.orValue(dyn('')))", described)
    return f"({_of_both_templates(field)}).map(c, {described})"


_RAY = f"[= {SEPARATOR}]ray{SEPARATOR}|multi-node-serving\\.sh|run_cluster\\.sh"
_ONE_RANK_HERE = ("data_parallel_rank", "data_parallel_external_lb")


def _parallelism() -> str:
    def whole(dest: str, default: int = 1) -> str:
        return whole_number("c.arguments", dest, default)

    local = whole("data_parallel_size_local", -2)
    one_here = f"c.arguments.matches({pattern(switch(*_ONE_RANK_HERE))})"
    local = let("local", local, f"local != -2 ? local : {one_here} ? 1 : {whole('data_parallel_size')}")
    unsure = f"c.arguments.matches({pattern(doubt(*_ONE_RANK_HERE))}) || c.arguments.matches({pattern(_RAY)})"
    sizes = (
        f"{{'server': dyn(c), 'tp': dyn({whole('tensor_parallel_size')}), 'pp': dyn({whole('pipeline_parallel_size')}), "
        f"'dp': dyn({local}), 'nodes': dyn({whole('nnodes')})}}"
    )
    decided = "s.tp > 0 && s.pp > 0 && s.dp >= 0 && s.nodes > 0"
    return f"variables.servers.filter(c, c.sees_all && !({unsure})).map(c, {sizes}).filter(s, {decided})"


VARIABLES: dict[str, str] = {
    "pods": one_line(_PODS),
    "containers": one_line(_described("?containers")),
    "init_containers": one_line(_described("?initContainers")),
    "all_containers": "variables.containers + variables.init_containers",
    "servers": "variables.containers.filter(c, c.arguments != '')",
    # TP, PP, data-parallel ranks in this pod, and nodes, of the servers whose flags show them.
    "parallelism": _parallelism(),
}
"""The shared variables in an order in which each reads only those before it."""


def row_of(container: str, name: str) -> str:
    """CEL: the (last) env row of that name, in a list of one; an empty list where there is none."""
    rows = f"{container}.env.filter(e, e.name == '{name}')"
    return let("rows", rows, "rows.size() == 0 ? [] : [rows[rows.size() - 1]]")


def needed(expression: str) -> Iterator[tuple[str, str]]:
    """The shared variables that an expression reads, directly or through others, in their order."""
    wanted = set(re.findall(r"variables\.(\w+)", expression))
    for name, text in reversed(VARIABLES.items()):
        if name in wanted:
            wanted |= set(re.findall(r"variables\.(\w+)", text))
    for name, text in VARIABLES.items():
        if name in wanted:
            yield name, text

