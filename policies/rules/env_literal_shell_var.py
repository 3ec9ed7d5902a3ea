"""Kubernetes expands $(NAME) only: $NAME and ${NAME} stay literal text where no shell reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import Unknown, mappings, sequence, text
from policies.workloads.pods import POD_OWNERS, Container, pod_templates
from policies.workloads.servers import command_words, is_vllm_container, shell_script

_WHOLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_INSIDE = re.compile(r"\$\{?([A-Z_][A-Z0-9_]*)\}?")


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """No variable and no argument of a vLLM container holds shell syntax that nothing expands."""
    for pod in pod_templates(resource):
        for container in pod.containers:
            if is_vllm_container(container):
                yield from _variables(container)
                yield from _arguments(container)


def _variables(container: Container) -> Iterator[Outcome]:
    for index, row in enumerate(mappings(container.body.get("env"))):
        value, name = text(row.get("value")) or "", text(row.get("name")) or ""
        place = (*container.path, "env", index)
        if match := _WHOLE.fullmatch(value.strip()):
            yield violation(
                f"{name} of container {container.name} is the literal text ${match.group(1)}: Kubernetes expands "
                f"$({match.group(1)}) only. Write that, a secretKeyRef, or the value.",
                *place,
            )
        elif _INSIDE.search(value) and "$(" not in value:
            yield advice(f"{name} of container {container.name} holds $NAME, which Kubernetes leaves as it is.", *place)


def _arguments(container: Container) -> Iterator[Outcome]:
    if shell_script(command_words(container)) is not None:
        return
    for key in ("command", "args"):
        for index, row in enumerate(sequence(container.body.get(key))):
            word = "" if isinstance(row, Unknown) else text(row) or ""
            if match := _WHOLE.fullmatch(word.partition("=")[2] or word):
                yield violation(
                    f"an argument of container {container.name} is the literal text ${match.group(1)}, and no "
                    f"shell reads it. Write $({match.group(1)}).",
                    *container.path,
                    key,
                    index,
                )


RULE = Rule(
    name="env-literal-shell-var",
    title="Variables are written as Kubernetes expands them",
    source="kubernetes-sigs/lws docs/examples/vllm",
    fix="Write $(NAME) for a variable of the same container, or a secretKeyRef.",
    applies_to=POD_OWNERS,
    check=check,
)
