"""A scaler's query must ask for a series that the served vLLM version exports, by its real name."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.vllm_versions import VllmVersion, default_vllm_version, vllm_version
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.scalers import (
    HPA,
    SCALED_OBJECT,
    hpa_metric_names,
    is_vllm_name,
    target_servers,
    triggers,
    vllm_selectors,
)
from policies.unknowns import NotDecidedError, mappings, text
from policies.vllm_metrics import fault_of, is_newer_than_table, rows_of_series

_PROMETHEUS_RULE = "PrometheusRule.monitoring.coreos.com"


def _recorded(resources: ResourceSet) -> set[str]:
    """The series that recording rules among the resources make."""
    names = set()
    for rule in resources.of(_PROMETHEUS_RULE):
        try:
            for group in mappings(rule.at("spec", "groups")):
                names |= {text(row.get("record")) or "" for row in mappings(group.get("rules"))}
        except NotDecidedError:
            continue
    return names


def _with_colon(name: str) -> str:
    return name.replace("vllm_", "vllm:", 1) if name.startswith("vllm_") else name


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge each vllm series of a ScaledObject's queries, and (as advice) an HPA's adapter names."""
    servers = target_servers(resource, resources)
    versions = {server.version for server in servers}
    version = versions.pop() if len(versions) == 1 else None
    if resource.group_kind == HPA:
        for name, path in hpa_metric_names(resource):
            # An adapter renames at will: only a source that is gone can be suspected, and never proved.
            fault = fault_of(_with_colon(name), version) if version and is_vllm_name(name) else None
            if fault and rows_of_series(_with_colon(name)):
                yield advice(f"the adapter's {name} has no source: {fault}", *path)
        return
    recorded = _recorded(resources)
    for trigger in triggers(resource):
        for selector in vllm_selectors(trigger):
            if selector.name not in recorded:
                yield from _judge(selector.name, version, (*trigger.path, "metadata", "query"))


def _judge(series: str, version: VllmVersion | None, path: Path) -> Iterator[Outcome]:
    colon = _with_colon(series)
    if series != colon:
        report = violation if rows_of_series(colon) else advice
        yield report(
            f"the query asks for {series}, and vLLM's series are called vllm:…, with a colon: write {colon}", *path
        )
        return
    fault = fault_of(series, version or _default())
    if fault is None:
        return
    never_existed = not rows_of_series(series)
    looks_recorded = series.count(":") > 1  # level:metric:operations, a recording rule's form
    certain = not looks_recorded and (
        never_existed if version is None else not (never_existed and is_newer_than_table(version))
    )
    report = violation if certain else advice
    yield report(f"the query asks for {series}. {fault}", *path)


def _default() -> VllmVersion:
    return vllm_version(default_vllm_version())


RULE = Rule(
    name="autoscale-metric-name",
    title="The scaled metric exists in the served vLLM version",
    source="kthena #868; llm-d #546; cloud-native-ref #1574; vllm #18354, #27133; inference-perf #277",
    fix="Write the series' name as the pinned vLLM version exports it.",
    applies_to=(SCALED_OBJECT, HPA),
    check=check,
    scope="set",
)
