"""A key among the arguments is in the pod's spec and in the process list."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import text
from policies.workloads.pods import POD_OWNERS, Container, pod_templates
from policies.workloads.servers import VllmServer, is_vllm_container, vllm_servers
from policies.workloads.shell import UNRESOLVED

_FLAGS = {"api_key": "VLLM_API_KEY", "hf_token": "HF_TOKEN"}
VARIABLES = ("VLLM_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "OPENAI_API_KEY")
# What clients of a server without a key send.
NO_SECRET = {"EMPTY", "empty", "none", "None", "dummy"}


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """No key stands among the arguments or, in clear text, in the environment of an engine."""
    for server in vllm_servers(resource):
        yield from _arguments(server)
    for pod in pod_templates(resource):
        for container in pod.containers:
            if is_vllm_container(container):
                yield from _variables(container)


def _arguments(server: VllmServer) -> Iterator[Outcome]:
    for argument in server.arguments:
        variable = _FLAGS.get(argument.dest)
        if variable is None or not any(argument.values):
            continue
        place = server.path_of(argument.written)
        if all(value == UNRESOLVED for value in argument.values):
            yield advice(
                f"{argument.written} of container {server.container.name} puts a key into the process list: vLLM reads "
                f"{variable} by itself.",
                *place,
            )
        elif not all(value in NO_SECRET for value in argument.values):
            yield violation(
                f"{argument.written} of container {server.container.name} carries a key in clear text. Remove it "
                f"and set {variable} by valueFrom.secretKeyRef.",
                *place,
            )


def _variables(container: Container) -> Iterator[Outcome]:
    for name in VARIABLES:
        found = container.environment_row(name)
        if found is None:
            continue
        value = text(found[0].get("value")) or ""
        if value and value not in NO_SECRET and not value.startswith("$"):
            yield violation(
                f"{name} of container {container.name} is written in clear text: take it from a Secret by "
                "valueFrom.secretKeyRef.",
                *found[1],
            )


RULE = Rule(
    name="secret-in-args",
    title="Keys are no arguments and stand in no manifest",
    source="aibrix benchmarks (deepseek-llm-7b-chat)",
    fix="Set VLLM_API_KEY by valueFrom.secretKeyRef and remove --api-key.",
    applies_to=POD_OWNERS,
    check=check,
)
