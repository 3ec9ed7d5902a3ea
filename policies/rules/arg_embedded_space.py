"""An argument of a list is one word: "--port 6379" is a flag with a space in its name, which the parser refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import vllm_servers

_FLAG_AND_VALUE = re.compile(r"(--?[A-Za-z][\w.-]*)[ \t\n]+(?=\S)")


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """No argument of a server holds a flag and, after a space, its value."""
    for server in vllm_servers(resource):
        for word in server.words:
            if match := _FLAG_AND_VALUE.match(word):
                flag = match.group(1)
                yield violation(
                    f"one argument of container {server.container.name} holds {flag} and its value with a space "
                    f"between: vLLM gets an unknown flag. Write {flag}=<value>, or two entries.",
                    *server.path_of(word),
                )


RULE = Rule(
    name="arg-embedded-space",
    title="A flag and its value are not one argument with a space",
    source="vllm #8273",
    fix="Write the flag and its value as --flag=value, or as two entries of the list.",
    applies_to=POD_OWNERS,
    check=check,
)
