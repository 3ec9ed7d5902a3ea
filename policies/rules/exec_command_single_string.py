"""Without a shell the first entry of a command is a program's name: a whole command line there is no program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import at, text
from policies.workloads.images import image
from policies.workloads.pods import POD_OWNERS, Container, pod_templates

COMMAND_LINE = re.compile(r"\S+\s+-|\S*(python[\d.]*|vllm|bash|sh|ray)\s+\S", re.DOTALL)
ARGUMENT_LINE = re.compile(r"[^-\s]\S*\s+--?[A-Za-z]")


def _key_of_line(container: Container) -> str | None:
    """``command`` or ``args`` where its first entry is a whole line, else None."""
    first = text(at(container.body, "command", 0))
    if first is not None:
        return "command" if COMMAND_LINE.match(first.strip()) else None
    argument = text(at(container.body, "args", 0))
    goes_to_vllm = image(container.image).mentions_vllm
    return "args" if argument and goes_to_vllm and ARGUMENT_LINE.match(argument.strip()) else None


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """The first entry of a command is a program, not a command line."""
    for pod in pod_templates(resource):
        for container in (*pod.containers, *pod.init_containers):
            key = _key_of_line(container)
            if key is not None:
                yield violation(
                    f"{key} of container {container.name} holds a whole command line in one entry, and no shell splits "
                    'it: the container can\'t start. Write one entry a word, or ["sh", "-c", "exec …"].',
                    *container.path,
                    key,
                    0,
                )


RULE = Rule(
    name="exec-command-single-string",
    title="A command is a list of words, not one string",
    source="vllm #4462",
    fix="Split the command into one list entry a word, or start it by sh -c.",
    applies_to=POD_OWNERS,
    check=check,
)
