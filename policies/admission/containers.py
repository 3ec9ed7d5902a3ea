"""The containers of a workload as CEL sees them: one list of maps over its one or two pod templates.

Each map holds ``pod`` (its pod's spec), ``template`` (0 or 1: which pod template), ``body``, ``name``, ``image`` (as
written), ``env`` (rows), ``gpus`` (-1 where it asks under two names), ``other_accelerator``, ``text`` (command and
args, see ``cel.SEPARATOR``), ``arguments`` (the part of ``text`` that a vLLM server gets; empty where no server can be
seen; up to a ``--``, which ends the options), ``sees_all`` (whether no option can hide in a ``--config`` file or in a
variable's value) and
``is_vllm``. Only a shell can read what stands under ``sh -c``: such a container shows no server here.
"""

from __future__ import annotations

from policies.admission.cel import SEPARATOR, let, pattern
from policies.admission.flags import switch
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
_SERVER_FLAGS = ("model", "tensor_parallel_size", "max_model_len", "served_model_name", "gpu_memory_utilization")
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
_CONFIG_FILE = f"{SEPARATOR}--config[= {SEPARATOR}]"

PODS = """
object.kind == 'Pod' ? [dyn(object)] :
object.kind == 'CronJob' ? [dyn(object).spec.jobTemplate.spec.template] :
object.kind == 'LeaderWorkerSet' ?
  (has(dyn(object).spec.leaderWorkerTemplate.leaderTemplate) ?
    [dyn(object).spec.leaderWorkerTemplate.leaderTemplate] : [])
  + [dyn(object).spec.leaderWorkerTemplate.workerTemplate] :
[dyn(object).spec.template]
"""
"""CEL of the variable ``pods``: the pod templates of the object; a LeaderWorkerSet may have two."""


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
            f"[limits.filter(n, n.matches({pattern(GPU)})), requests.filter(n, n.matches({pattern(GPU)}))]",
            "names[0].size() + names[1].size() == 0 ? 0 : names[0].size() > 1 || names[1].size() > 1 ? -1 : "
            + let(
                "stated",
                "string(names[0].size() == 1 ? limits[names[0][0]] : requests[names[1][0]])",
                "isQuantity(stated) ? int(quantity(stated).asApproximateFloat()) : -1",
            ),
        ),
    ),
)


def _arguments() -> str:
    return f"""
(c.body.?command.orValue([]).size() > 0 ?
  (text.matches({pattern(SHELL)}) || text.matches({pattern(_NO_LAUNCHER)}) ? '' : text.find({pattern(_SERVE)})) :
((image.matches({pattern(_STOCK_VLLM)}) && !image.matches({pattern(_LMCACHE)})) || image.matches({pattern(_AWS_VLLM)})
  || (image.matches({pattern(_MENTIONS_VLLM)}) && text.matches({pattern(switch(*_SERVER_FLAGS))})))
  && !text.matches({pattern(_CLIENT)}) ? '{_NEXT}' + text : '').split('{SEPARATOR}--{SEPARATOR}')[0]
"""


_SEES_ALL = (
    f"!arguments.matches({pattern(_CONFIG_FILE)}) && "
    f"arguments.findAll({pattern(_ANY_VALUE)}).size() == arguments.findAll({pattern(_KNOWN_VALUE)}).size()"
)
_WORDS = "(c.body.?command.orValue([]) + c.body.?args.orValue([]))"
_TEXT = f"{_WORDS}.map(w, '{SEPARATOR}' + string(w) + '{SEPARATOR}').join('')"
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


def described(field: str) -> str:
    """CEL of the variables ``containers`` and ``init_containers``; reads ``pods``."""
    container = let("text", _TEXT, let("arguments", _arguments(), _CONTAINER))
    container = let("image", "string(c.body.?image.orValue(dyn('')))", container)
    return f"({_of_both_templates(field)}).map(c, {container})"


def row_of(container: str, name: str) -> str:
    """CEL: the (last) env row of that name, in a list of one; an empty list where there is none."""
    rows = f"{container}.env.filter(e, e.name == '{name}')"
    return let("rows", rows, "rows.size() == 0 ? [] : [rows[rows.size() - 1]]")
