"""Prefix caching reuses the KV blocks of shared prompts: without it, every request computes the system prompt again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.facts import UnknownFactError
from catalog.models import model
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import VllmServer, engines

# Embedding, reranking and reward models by the names that they go by; a prompt is read once and nothing is generated.
NO_GENERATION = re.compile(r"embed|rerank|(^|[/-])(bge|e5|gte)-|reward|classif|colbert", re.IGNORECASE)
FALSE = {"false", "0", "no", "off"}


def _switch(server: VllmServer) -> bool | None:
    """What the command line says: True, False, or None where it says nothing that can be seen."""
    said = [argument for argument in server.arguments if argument.dest.endswith("enable_prefix_caching")]
    if not said:
        return None
    last = said[-1]
    spelled_off = last.written.replace("_", "-").startswith(("--no-", "--disable-"))
    return not (spelled_off or (last.values and last.values[0].lower() in FALSE))


def _generates(server: VllmServer) -> bool:
    if not server.generates or (server.model and NO_GENERATION.search(server.model)):
        return False
    try:
        return model(server.model).generates if server.model else True
    except UnknownFactError:
        return True


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A server that generates text has prefix caching on, by flag or by its version's default."""
    for server in engines(resource):
        if not _generates(server):
            continue
        switch = _switch(server)
        if switch is False:
            yield violation(
                f"container {server.container.name} switches prefix caching off: every request computes its whole "
                "prompt again. Remove the flag.",
                *server.path,
            )
        elif switch is None and server.version and not server.version.prefix_caching_default:
            if server.may_have_more:
                continue
            yield advice(
                f"vLLM {server.version} leaves prefix caching off unless asked: add --enable-prefix-caching.",
                *server.path,
            )


RULE = Rule(
    name="prefix-caching-on",
    title="Prefix caching is on for generating models",
    source="inference-perf's untuned baseline; the blueprint's checklist",
    fix="Remove --no-enable-prefix-caching (vLLM before 0.8.0: add --enable-prefix-caching).",
    applies_to=POD_OWNERS,
    check=check,
)
