"""On which instance types and GPUs a pod can land, from its node selector and required node affinity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

from catalog.facts import UnknownFactError
from catalog.gpus import Gpu, gpu, gpus
from catalog.instance_types import InstanceType, instance_types
from policies.unknowns import at, mapping, mappings, sequence, text
from policies.workloads.pods import PodTemplate

_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_FAMILY_LABELS = ("karpenter.k8s.aws/instance-family", "eks.amazonaws.com/instance-family")
_GPU_NAME_LABELS = ("karpenter.k8s.aws/instance-gpu-name", "eks.amazonaws.com/instance-gpu-name")
_PRODUCT_LABEL = "nvidia.com/gpu.product"


@dataclass(frozen=True)
class Placement:
    """What a pod may land on. Both are empty where it doesn't say, or says a name that the catalog doesn't have."""

    instance_types: tuple[InstanceType, ...] = ()
    gpus: tuple[Gpu, ...] = ()


@lru_cache(maxsize=8192)
def placement(pod: PodTemplate) -> Placement:
    """The instance types and GPUs that a template's required labels allow.

    Raises:
        NotDecidedError: a label that decides it is not known yet.
    """
    allowed = _required_labels(pod)
    names = _values(allowed, _TYPE_LABELS)
    types = [instance_types()[name] for name in names if name in instance_types()]
    if not names:
        families = _values(allowed, _FAMILY_LABELS)
        types = [row for row in instance_types().values() if row.name.split(".", 1)[0] in families]
    if types:
        # A name that the catalog lacks may be anything: then nothing can be said about all candidates.
        complete = len(types) == len(names) or not names
        models = tuple({row.gpu: row.gpu_model for row in types if row.gpu_model}.values())
        return Placement(tuple(types), tuple(m for m in models if m)) if complete else Placement()
    if names:
        return Placement((), _family_gpus(names))
    return Placement((), _gpus_of(allowed))


def _required_labels(pod: PodTemplate) -> dict[str, list[str]]:
    """Label → the values that it may have. Of several nodeSelectorTerms only what each of them states."""
    allowed = {key: [text(value) or ""] for key, value in mapping(pod.spec.get("nodeSelector")).items()}
    required = at(pod.spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = mappings(at(required, "nodeSelectorTerms")) if required is not None else []
    stated: list[dict[str, list[str]]] = []
    for term in terms:
        expressions = mappings(term.get("matchExpressions"))
        stated.append(
            {
                text(row.get("key")) or "": [text(value) or "" for value in sequence(row.get("values"))]
                for row in expressions
                if text(row.get("operator")) == "In"
            }
        )
    for key in set.intersection(*map(set, stated)) if stated else ():
        allowed.setdefault(key, [value for term in stated for value in term[key]])
    return allowed


def _values(allowed: dict[str, list[str]], labels: tuple[str, ...]) -> list[str]:
    return next((allowed[label] for label in labels if label in allowed), [])


def _family_gpus(names: list[str]) -> tuple[Gpu, ...]:
    """The GPUs of sizes that the catalog lacks (g6e.2xlarge), by the family's other sizes."""
    found = [_gpus_by_family().get(name.split(".", 1)[0]) for name in names]
    return tuple(model for model in found if model) if all(found) else ()


@cache
def _gpus_by_family() -> dict[str, Gpu]:
    return {row.name.split(".", 1)[0]: row.gpu_model for row in instance_types().values() if row.gpu_model}


def _gpus_of(allowed: dict[str, list[str]]) -> tuple[Gpu, ...]:
    products = _values(allowed, (_PRODUCT_LABEL,))
    if products:
        labels = {row.product_label: row for row in gpus().values() if row.product_label}
        found = [labels.get(product.removesuffix("-SHARED")) for product in products]
        return tuple(row for row in found if row) if all(found) else ()
    named = []
    for name in _values(allowed, _GPU_NAME_LABELS):
        try:
            named.append(gpu(name))
        except UnknownFactError:
            return ()
    return tuple(named)
