"""A vLLM version with published vulnerabilities serves whoever reaches it."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.vllm_versions import first_version_without_known_vulnerability
from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.images import image
from policies.workloads.pods import POD_OWNERS, pod_templates

_ORDER = ("low", "medium", "high", "critical")


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """No confirmed vulnerability of the catalog affects the version that the image's tag states."""
    least = parameters["least_severity"]
    counted = _ORDER[_ORDER.index(least) :] if least in _ORDER else _ORDER
    for pod in pod_templates(resource):
        for container in (*pod.containers, *pod.init_containers):
            version = image(container.image).vllm_version
            if version is None:
                continue
            rows = [row for row in version.vulnerabilities if row.confirmed and row.severity in counted]
            rows.sort(key=lambda row: -_ORDER.index(row.severity))
            if rows:
                shown = "; ".join(f"{row.id} ({row.severity}: {row.what})" for row in rows[:3])
                more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""  # three say enough
                yield violation(
                    f"vLLM {version} of container {container.name} has {shown}{more}: use "
                    f"{first_version_without_known_vulnerability()} or later.",
                    *container.path,
                    "image",
                )


RULE = Rule(
    name="image-cve",
    title="The vLLM version has no known vulnerability",
    source="catalog/data/vllm.yaml, vulnerabilities",
    fix=f"Use vllm/vllm-openai:v{first_version_without_known_vulnerability()} or later.",
    applies_to=POD_OWNERS,
    check=check,
    parameters={
        "least_severity": Parameter("low", "string", "the mildest severity that counts: low, medium, high or critical"),
    },
)
