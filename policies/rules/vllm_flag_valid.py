"""A flag or form that the pinned vLLM's parser refuses ends the server with exit code 2 before it loads anything."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.vllm_flags import FlagError, check_argument, find_flag, flag_table, is_ever_listed, is_gone_or_not_yet
from catalog.vllm_versions import VllmVersion
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import Argument, VllmServer, vllm_servers
from policies.workloads.shell import UNRESOLVED

# Plugins add choices to these, so the parser's own list is not all of them.
_OPEN_CHOICES = {"tool_call_parser", "reasoning_parser"}
# -O2 and -O.level=2 are rewritten before the parser sees them.
_REWRITTEN = "-O"
_CHUNKED_PREFILL = "--enable-chunked-prefill"


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Each flag exists in the image's vLLM, in the form and with a choice that its parser takes."""
    for server in vllm_servers(resource):
        version = server.version
        if version is None:
            continue
        for argument in server.arguments:
            if UNRESOLVED in argument.written or argument.written.startswith(_REWRITTEN):
                continue
            if flag_table(version) is None:
                yield from _without_table(server, version, argument)
            else:
                yield from _with_table(server, version, argument)


def _with_table(server: VllmServer, version: VllmVersion, argument: Argument) -> Iterator[Outcome]:
    try:
        flag = find_flag(version, argument.written)
        if argument.values and not flag.takes_value:
            check_argument(version, f"{argument.written}={argument.values[0]}")
        for value in argument.values if flag.choices and flag.dest not in _OPEN_CHOICES else ():
            if UNRESOLVED not in value:
                check_argument(version, f"{argument.written}={value}")
    except FlagError as error:
        yield violation(f"container {server.container.name}: {error}", *server.path_of(argument.written))


def _without_table(server: VllmServer, version: VllmVersion, argument: Argument) -> Iterator[Outcome]:
    name = argument.written
    place = server.path_of(name)
    if not name.startswith("--"):
        return
    if is_gone_or_not_yet(version, name):
        yield violation(f"container {server.container.name}: vLLM {version} has no flag {name}: remove it.", *place)
    elif name == _CHUNKED_PREFILL and argument.has_equals and version.chunked_prefill_argument == _CHUNKED_PREFILL:
        yield violation(
            f"container {server.container.name}: {name} takes no value in vLLM {version}: write it alone, or "
            "leave it out.",
            *place,
        )
    elif not argument.is_listed and not is_ever_listed(name):
        yield advice(
            f"container {server.container.name}: no flag table for vLLM {version}, and its neighbours' tables have no "
            f"{name}: check the spelling.",
            *place,
        )


RULE = Rule(
    name="vllm-flag-valid",
    title="Every flag exists in the pinned vLLM, in the form that it takes",
    source="kubeai model catalogue (V0 flags); LLMKube #1030; vLLM 0.8.0 refuses --enable-chunked-prefill=true",
    fix="Write the flags as the image's vLLM lists them (vllm serve --help=all).",
    applies_to=POD_OWNERS,
    check=check,
)
