"""A Hugging Face token in a manifest is in Git, in the API server and in every log of the object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import at, known, mapping, text
from policies.workloads.pods import POD_OWNERS, Container, pod_templates
from policies.workloads.servers import vllm_servers

TOKEN_VARIABLES = (
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HUGGINGFACE_HUB_TOKEN",
    "HUGGINGFACE_TOKEN",
    "HF_HUB_TOKEN",
    "HF_API_TOKEN",
    "HUGGINGFACEHUB_API_TOKEN",
)
TOKEN_PREFIX = "hf_"  # noqa: S105 - how Hugging Face's tokens begin
TOKEN_LENGTH = 20


def looks_like_token(value: Any) -> bool:
    """Whether a text looks like a Hugging Face user token."""
    return isinstance(value, str) and value.startswith(TOKEN_PREFIX) and len(value) >= TOKEN_LENGTH and "/" not in value


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Hugging Face tokens come from a Secret."""
    for pod in pod_templates(resource):
        for container in (*pod.containers, *pod.init_containers):
            yield from _variables(container)
    for server in vllm_servers(resource):
        written = {text(row.get("name")) for row in _rows(server.container)}
        for name in TOKEN_VARIABLES:
            # Set by the start script, not by env. A reference to another variable stays unresolved and passes.
            if name not in written and looks_like_token(server.environment.get(name)):
                yield violation(
                    f"the start script of container {server.container.name} sets {name} in clear text: take it from a "
                    "Secret by secretKeyRef.",
                    *server.path,
                )


def _rows(container: Container) -> list[dict[str, Any]]:
    rows = known(container.body.get("env"))
    return [mapping(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _variables(container: Container) -> Iterator[Outcome]:
    for row in _rows(container):
        name = text(row.get("name")) or ""
        if name not in TOKEN_VARIABLES and not looks_like_token(row.get("value")):
            continue
        found = container.environment_row(name)
        place = found[1] if found else container.path
        if text(row.get("value")):
            if (text(row.get("value")) or "").startswith("$("):
                continue  # refers to another variable of the container, which is judged itself
            yield violation(
                f"{name} of container {container.name} is written in clear text: take it from a Secret by "
                "valueFrom.secretKeyRef.",
                *place,
            )
        elif at(row, "valueFrom", "configMapKeyRef") is not None:
            yield advice(f"{name} of container {container.name} comes from a ConfigMap: keep it in a Secret.", *place)


RULE = Rule(
    name="hf-token-secret",
    title="The Hugging Face token comes from a Secret",
    source="production-stack #14, #22; kserve #4674; inference-perf #183; dynamo #3384",
    fix="Set the token by valueFrom.secretKeyRef.",
    applies_to=POD_OWNERS,
    check=check,
)
