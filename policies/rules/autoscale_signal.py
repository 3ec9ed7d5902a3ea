"""A vLLM server must scale on its queue or KV cache: CPU and memory say nothing about a GPU's load."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies import promql
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.scalers import (
    HPA,
    SCALED_OBJECT,
    hpa_metric_names,
    is_vllm_name,
    scales_vllm,
    target,
    target_resource,
    triggers,
)
from policies.unknowns import mapping, sequence, text

_HOST_RESOURCES = {"cpu", "memory"}
# cAdvisor, node exporter, process and CloudWatch names of CPU and host memory.
_HOST_METRIC = re.compile(
    r"(^|[:_])(container|node|pod|process|kube_pod_container_resource)[a-z_:]*(cpu|memory)|process_resident_memory|"
    r"cpu_?utili[sz]ation|memory_?utili[sz]ation",
    re.IGNORECASE,
)
# One request keeps these near 100 %: a busy GPU is not a full one, and vLLM takes its memory at start.
_GPU_METRIC = re.compile(
    r"DCGM_FI_(DEV_GPU_UTIL|DEV_MEM_COPY_UTIL|DEV_FB_(USED|FREE)|PROF_GR_ENGINE_ACTIVE|PROF_SM_ACTIVE)|"
    r"gpu_?(utili[sz]ation|duty_cycle)|nvidia_gpu_(duty_cycle|memory_used)",
    re.IGNORECASE,
)
_LOAD_METRIC = re.compile(r"num_requests|cache_usage|queue")

_Signal = tuple[str, Path]


def _keda_signals(scaler: Resource) -> Iterator[_Signal]:
    """What a ScaledObject scales on: each metric name of a query, else the trigger's own metric or type (``cpu``)."""
    for trigger in triggers(scaler):
        if trigger.type == "prometheus":
            expression = trigger.expression()
            for selector in promql.selectors(expression) if expression else ():
                yield selector.name, trigger.path
        else:
            yield text(trigger.metadata.get("metricName")) or trigger.type, trigger.path


def _hpa_signals(scaler: Resource) -> Iterator[_Signal]:
    """What an HPA scales on; without metrics Kubernetes takes CPU."""
    cpu_target: Path = ("spec", "targetCPUUtilizationPercentage")
    if scaler.at(*cpu_target) is not None:
        yield "cpu", cpu_target
    metrics = sequence(scaler.at("spec", "metrics"))
    if not metrics and scaler.at(*cpu_target) is None:
        yield "cpu", ("spec",)
    for index, row in enumerate(metrics):
        body = mapping(row)
        for key in ("resource", "containerResource"):
            name = text(mapping(body.get(key)).get("name"))
            if name in _HOST_RESOURCES:
                yield name, ("spec", "metrics", index)
    yield from hpa_metric_names(scaler)


def _looks_like_vllm(scaler: Resource, resources: ResourceSet) -> bool:
    """Whether only the name of a workload that isn't here says vLLM."""
    wanted = target(scaler)
    return wanted is not None and "vllm" in wanted.name and target_resource(scaler, resources) is None


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge scalers of vLLM servers, trigger by trigger."""
    if resource.labels.get("app.kubernetes.io/managed-by") == "keda-operator":
        return  # KEDA's own HPA repeats its ScaledObject
    if scales_vllm(resource, resources):
        refuse = violation
    elif _looks_like_vllm(resource, resources):
        refuse = advice
    else:
        return
    signals = list(_hpa_signals(resource) if resource.group_kind == HPA else _keda_signals(resource))
    for name, path in signals:
        if name in _HOST_RESOURCES or (_HOST_METRIC.search(name) and not is_vllm_name(name)):
            yield refuse(
                f"it scales on {name}, which says nothing about the queue of a GPU server: scale on "
                "vllm:num_requests_waiting, and on vllm:kv_cache_usage_perc where long contexts fill the cache",
                *path,
            )
        elif _GPU_METRIC.search(name):
            alone = all(_GPU_METRIC.search(other) for other, _ in signals)
            report = refuse if alone else advice
            yield report(
                f"it scales on {name}, which one running request drives to its top: scale on vllm:num_requests_waiting",
                *path,
            )
    names = sorted({name for name, _ in signals})
    if names and all(is_vllm_name(name) and not _LOAD_METRIC.search(name) for name in names):
        yield advice(
            f"it scales on {', '.join(names)} alone, which follows load late: add the queue "
            "(vllm:num_requests_waiting)",
            "spec",
        )


RULE = Rule(
    name="autoscale-signal",
    title="A model server scales on its queue or KV cache, not on CPU or memory",
    source="the article's checklist; llm-d #546; GAIE #1905; field-mistakes.md 33",
    fix="Scale on vllm:num_requests_waiting (and KV-cache usage) through KEDA, and remove CPU and memory.",
    applies_to=(SCALED_OBJECT, HPA),
    check=check,
    scope="set",
)
