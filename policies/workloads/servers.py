"""vLLM servers in pod templates, however they are started, and their arguments as the pinned version parses them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from catalog.vllm_flags import Flag, FlagError, find_flag, nearest_flag_table_version
from catalog.vllm_versions import VllmVersion, default_vllm_version, vllm_version
from policies.model import Path, Resource
from policies.unknowns import NotDecidedError, Unknown, sequence, text
from policies.workloads.images import Image, image
from policies.workloads.pods import LEADER_WORKER_SET, Container, PodTemplate, expand, pod_templates
from policies.workloads.shell import UNRESOLVED, Command, simple_commands

_SHELLS = {"sh", "bash", "dash", "ash", "zsh"}
_MODULES = {"vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"}
_NO_LAUNCHERS = {"echo", "printf", "cat", "grep", "sed", "test", "["}
_RAY_SCRIPT = re.compile(r"(^|/)(multi-node-serving\.sh|run_cluster\.sh)$")
MODELS_WITHOUT_GENERATION = ("pooling", "embed", "embedding", "classify", "score", "reward", "token_embed")


@dataclass(frozen=True)
class Argument:
    """One option of the command line: as written, and what the parser makes of it."""

    written: str
    """As the command line has it, without a value in a word of its own."""
    values: tuple[str, ...]
    dest: str
    """The parser's destination; for a spelling that no table has, the spelling itself with underscores."""
    has_equals: bool = False
    is_listed: bool = True
    """Whether the nearest version's table has the flag."""


@dataclass(frozen=True, eq=False)
class VllmServer:
    """One ``vllm serve`` (or API server module) that a container runs.

    Asking for an argument that isn't there, where part of the command line can't be seen, raises NotDecidedError.
    """

    container: Container
    words: tuple[str, ...]
    """The arguments after ``vllm serve``."""
    environment: dict[str, str]
    """The container's variables and those that its script sets."""
    in_shell: bool

    @property
    def pod(self) -> PodTemplate:
        """The template that the container stands in."""
        return self.container.pod

    @property
    def image(self) -> Image:
        """The container's image."""
        return image(self.container.image)

    @property
    def version(self) -> VllmVersion | None:
        """The vLLM version that the image's tag states, or None."""
        return self.image.vllm_version

    @property
    def path(self) -> Path:
        """Where the arguments stand, for a finding's line."""
        key = "args" if self.container.body.get("args") is not None else "command"
        return (*self.container.path, key)

    def path_of(self, argument: str) -> Path:
        """The line of one argument as written, if it has an entry of its own."""
        for key in ("args", "command"):
            rows = sequence(self.container.body.get(key))
            for index, row in enumerate(rows):
                if isinstance(row, str) and (row == argument or row.startswith(f"{argument}=")):
                    return (*self.container.path, key, index)
        return self.path

    def variable(self, name: str) -> str | None:
        """An environment variable that the server sees, or None where nobody sets it.

        Raises:
            NotDecidedError: a reference, or the running shell, provides it.
        """
        value = self.environment.get(name)
        if value is not None and UNRESOLVED in value:
            raise NotDecidedError(f"{name} of container {self.container.name} can't be seen here")
        return value

    # Arguments -----------------------------------------------------------------------------------------------------

    @cached_property
    def _parsed(self) -> tuple[tuple[Argument, ...], tuple[str, ...], bool]:
        return parse_arguments(self.words, self.version)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The options in their order."""
        return self._parsed[0]

    @property
    def may_have_more(self) -> bool:
        """Whether options can hide in what isn't seen: an unresolved word, or a ``--config`` file."""
        return self._parsed[2] or any(argument.written == "--config" for argument in self.arguments)

    def argument(self, dest: str) -> Argument | None:
        """The (last) option with this destination, or None where the command line has none.

        Raises:
            NotDecidedError: there is none that can be seen, and part of the command line can't.
        """
        found = next((argument for argument in reversed(self.arguments) if argument.dest == dest), None)
        if found is None and self.may_have_more:
            raise NotDecidedError(f"part of the command line of container {self.container.name} can't be seen here")
        return found

    def value(self, dest: str) -> str | None:
        """The value of an option, None where it isn't given. Raises NotDecidedError as ``argument`` does."""
        argument = self.argument(dest)
        if argument is None or not argument.values:
            return None
        if UNRESOLVED in argument.values[0]:
            raise NotDecidedError(
                f"the value of {argument.written} in container {self.container.name} can't be seen here"
            )
        return argument.values[0]

    def whole(self, dest: str, default: int) -> int:
        """A whole-number option. Raises NotDecidedError where it can't be seen or isn't a number."""
        value = self.value(dest)
        if value is None:
            return default
        try:
            return int(value.replace("_", ""))
        except ValueError:
            raise NotDecidedError(f"{dest} of container {self.container.name} is no whole number: {value!r}") from None

    def is_set(self, *dests: str) -> bool:
        """Whether one of these switches is on the command line as far as it can be seen (no error where it can't)."""
        return any(argument.dest in dests for argument in self.arguments)

    @property
    def model(self) -> str | None:
        """The model id or path. Raises NotDecidedError where it can't be seen."""
        positional = self._parsed[1]
        if positional:
            if UNRESOLVED in positional[0]:
                raise NotDecidedError(f"the model of container {self.container.name} can't be seen here")
            return positional[0]
        return self.value("model")

    @property
    def served_model_names(self) -> tuple[str, ...]:
        """The names that requests and the metrics' label ``model_name`` carry (the label shows the first)."""
        argument = self.argument("served_model_name")
        if argument and argument.values:
            if any(UNRESOLVED in value for value in argument.values):
                raise NotDecidedError(f"the served model name of container {self.container.name} can't be seen here")
            return argument.values
        model = self.model
        return (model,) if model else ()

    # Parallelism ---------------------------------------------------------------------------------------------------

    @property
    def tensor_parallel_size(self) -> int:
        """TP; 1 where not given."""
        return self.whole("tensor_parallel_size", 1)

    @property
    def pipeline_parallel_size(self) -> int:
        """PP; 1 where not given."""
        return self.whole("pipeline_parallel_size", 1)

    @property
    def data_parallel_size(self) -> int:
        """DP over all nodes; 1 where not given."""
        return self.whole("data_parallel_size", 1)

    @property
    def uses_ray(self) -> bool:
        """Whether the executor is Ray, by flag or by an LWS group that a Ray script forms."""
        argument = next((item for item in self.arguments if item.dest == "distributed_executor_backend"), None)
        return bool(argument and argument.values[:1] == ("ray",)) or starts_ray(self.container)

    @property
    def nodes(self) -> int:
        """Over how many pods one engine's ranks of TP and PP spread: ``--nnodes``, else a Ray group's size, else 1."""
        argument = next((item for item in self.arguments if item.dest == "nnodes"), None)
        if argument is not None:
            return max(self.whole("nnodes", 1), 1)
        if self.uses_ray and self.pod.resource.group_kind == LEADER_WORKER_SET:
            return self.pod.group_size
        return 1

    @property
    def data_parallel_local(self) -> int:
        """Data-parallel ranks in this pod: ``--data-parallel-size-local``, 1 with a rank given, else all of them."""
        if self.argument("data_parallel_size_local"):
            return max(self.whole("data_parallel_size_local", 1), 0)
        if self.is_set("data_parallel_rank", "data_parallel_external_lb"):
            return 1
        return self.data_parallel_size

    @property
    def ranks_in_pod(self) -> float:
        """GPU ranks that this pod runs: TP × PP over the engine's nodes, times the data-parallel ranks here."""
        return self.tensor_parallel_size * self.pipeline_parallel_size * self.data_parallel_local / self.nodes

    @property
    def spans_nodes(self) -> bool:
        """Whether one engine runs in several pods."""
        return self.nodes > 1

    @property
    def is_headless(self) -> bool:
        """Whether it is a follower without an API."""
        return self.is_set("headless")

    @property
    def generates(self) -> bool:
        """Whether it generates text (and isn't an embedding, classification or reward server, as far as flags tell)."""
        for argument in self.arguments:
            if (
                argument.dest in ("runner", "task", "convert")
                and argument.values[:1]
                and (argument.values[0] in MODELS_WITHOUT_GENERATION)
            ):
                return False
        return True


# Reading command lines -----------------------------------------------------------------------------------------------


def parse_arguments(
    words: tuple[str, ...], version: VllmVersion | None
) -> tuple[tuple[Argument, ...], tuple[str, ...], bool]:
    """Options, positionals, and whether an unresolved word may hide more options.

    A version without a flag table is read by the nearest one that has a table; only the number of values and the
    destination come from it, not the verdict on a flag.
    """
    table = nearest_flag_table_version(version or vllm_version(default_vllm_version()))
    options: list[Argument] = []
    positionals: list[str] = []
    hides_more = False
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word == "--":
            positionals += words[position:]
            break
        if not _is_option(word):
            # An unresolved word where a value could stand alone is the model; later it may be anything.
            hides_more = hides_more or (word == UNRESOLVED and bool(positionals or options))
            positionals.append(word)
            continue
        spelling, equals, value = word.partition("=")
        if " " in spelling:
            # "--flag value" in one word (arg-embedded-space says so): the other rules judge what was meant.
            spelling, equals, value = word.partition(" ")
        flag = _flag(table, spelling)
        values: list[str] = [value] if equals else []
        if not equals and _is_switch_with_value(flag, words, position):
            values = [words[position]]  # "--switch true": the parser refuses it, and the intent is plain
            position += 1
        elif not equals and _takes_value(flag, words, position):
            count = _value_count(flag, words, position)
            values = list(words[position : position + count])
            position += count
        dest = flag.dest if flag else spelling.lstrip("-").replace("-", "_")
        options.append(Argument(spelling, tuple(values), dest, equals == "=", flag is not None))
    return tuple(options), tuple(positionals), hides_more


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not re.fullmatch(r"-\d+(\.\d+)?", word)


def _flag(table: VllmVersion, spelling: str) -> Flag | None:
    try:
        return find_flag(table, spelling)
    except (FlagError, KeyError):
        return None


def _is_switch_with_value(flag: Flag | None, words: tuple[str, ...], position: int) -> bool:
    is_switch = flag is not None and not flag.takes_value
    return is_switch and position < len(words) and words[position].lower() in ("true", "false")


def _takes_value(flag: Flag | None, words: tuple[str, ...], position: int) -> bool:
    if flag is not None and not flag.takes_value:
        return False
    return position < len(words) and not _is_option(words[position])


def _value_count(flag: Flag | None, words: tuple[str, ...], position: int) -> int:
    if flag is None or flag.nargs not in ("*", "+"):
        return 1
    end = position
    while end < len(words) and not _is_option(words[end]):
        end += 1
    return end - position


# Finding servers -----------------------------------------------------------------------------------------------------


def command_words(container: Container) -> list[str]:
    """``command`` and ``args`` in one list, ``$(NAME)`` expanded; an unknown entry becomes ``UNRESOLVED``."""
    words = []
    for key in ("command", "args"):
        rows = container.body.get(key)
        if isinstance(rows, Unknown):
            words.append(UNRESOLVED)
            continue
        for row in sequence(rows):
            words.append(UNRESOLVED if isinstance(row, Unknown) else _expanded(row, container))
    return words


def _expanded(row: Any, container: Container) -> str:
    written = expand(text(row) or "", container.environment)
    if "$(" in written and container.has_environment_from:
        return re.sub(r"\$\([-._a-zA-Z][-._a-zA-Z0-9]*\)", UNRESOLVED, written)
    return written


@lru_cache(maxsize=8192)
def commands(container: Container) -> tuple[tuple[Command, bool], ...]:
    """The simple commands that a container runs, each with whether a shell reads it; empty for the bare entrypoint."""
    words = command_words(container)
    if not container.body.get("command"):
        return ()
    return tuple(_commands(words, dict(container.environment), depth=0))


def _commands(words: list[str], environment: dict[str, str], depth: int) -> Iterator[tuple[Command, bool]]:
    script = shell_script(words)
    if script is None or depth > 2:  # a shell in a shell in a shell: nobody writes that
        yield Command(words, environment), depth > 0
        return
    text_of_script, arguments = script
    for command in simple_commands(text_of_script, environment, arguments):
        yield from _commands(command.words, command.environment, depth + 1)


def shell_script(words: list[str]) -> tuple[str, list[str]] | None:
    """The text of ``sh -c TEXT ARG…`` and what follows it, or None for anything else."""
    for index, word in enumerate(words[:4]):  # a wrapper such as tini -- may come first
        if word.rsplit("/", 1)[-1] in _SHELLS:
            rest = words[index + 1 :]
            while rest and rest[0].startswith(("-", "+")):
                option, rest = rest[0], rest[1:]
                if option in ("-o", "+o", "--rcfile") and rest:
                    rest = rest[1:]
                elif "c" in option and not option.startswith("--"):
                    return (rest[0], rest[1:]) if rest else None
            return None
    return None


def server_arguments(words: list[str]) -> list[str] | None:
    """The arguments after ``vllm serve`` or the API server module, or None where the command starts no server."""
    if words and words[0] in _NO_LAUNCHERS:
        return None
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        program = word.rsplit("/", 1)[-1]
        if program == "vllm" and following == "serve":
            return words[index + 2 :]
        if word == "-m" and following in _MODULES:
            return words[index + 2 :]
        if (
            word == "-m"
            and following in ("vllm", "vllm.entrypoints.cli.main")
            and words[index + 2 : index + 3] == ["serve"]
        ):
            return words[index + 3 :]
        if word.endswith("vllm/entrypoints/openai/api_server.py"):
            return words[index + 1 :]
        if program == "vllm":
            return None  # vllm bench, chat, complete: a client
    return None


def starts_ray(container: Container) -> bool:
    """Whether it calls ``ray start`` (or a script of vLLM's that does)."""
    for command, _ in commands(container):
        for index, word in enumerate(command.words):
            if _RAY_SCRIPT.search(word) or (word == "ray" and command.words[index + 1 : index + 2] == ["start"]):
                return True
    return False


def _servers(container: Container) -> Iterator[VllmServer]:
    found = commands(container)
    if found:
        for command, in_shell in found:
            arguments = server_arguments(command.words)
            if arguments is not None:
                yield VllmServer(container, tuple(arguments), command.environment, in_shell)
        return
    reference = image(container.image)
    words = command_words(container)
    serves = reference.is_stock_vllm or reference.is_aws_vllm or (reference.mentions_vllm and _looks_like_flags(words))
    if serves and not (words[:1] and words[0] in ("bench", "chat", "complete")):
        arguments = words[1:] if words[:1] == ["serve"] else words
        yield VllmServer(container, tuple(arguments), dict(container.environment), in_shell=False)


def _looks_like_flags(words: list[str]) -> bool:
    known = {"model", "tensor_parallel_size", "max_model_len", "served_model_name", "gpu_memory_utilization"}
    options, _, _ = parse_arguments(tuple(words), None)
    return any(option.dest in known for option in options)


@lru_cache(maxsize=8192)
def servers_in(pod: PodTemplate) -> tuple[VllmServer, ...]:
    """The servers in one template; of several in one container the one with an API stands first."""
    found = [server for container in pod.containers for server in _servers(container)]
    return tuple(sorted(found, key=lambda server: server.is_headless))


@lru_cache(maxsize=8192)
def vllm_servers(resource: Resource) -> tuple[VllmServer, ...]:
    """The vLLM servers of an object: at most one for each container, the one with an API where a script has branches.

    Raises:
        NotDecidedError: the pod template is not known yet.
    """
    return tuple(_one_a_container(resource))


def _one_a_container(resource: Resource) -> Iterator[VllmServer]:
    for pod in pod_templates(resource):
        seen: set[int] = set()
        for server in servers_in(pod):
            if id(server.container) not in seen:
                seen.add(id(server.container))
                yield server


def is_vllm_container(container: Container) -> bool:
    """Whether a container is part of a vLLM engine: a server, or a follower that a script of the vLLM image starts."""
    return image(container.image).mentions_vllm or any(
        server.container is container for server in servers_in(container.pod)
    )


def is_engine_container(container: Container) -> bool:
    """Whether a container runs a vLLM engine, and isn't a client that uses the same image without a GPU."""
    is_server = any(server.container is container for server in servers_in(container.pod))
    return is_server or (container.gpus > 0 and image(container.image).mentions_vllm)


def json_value(value: str | None) -> dict[str, Any]:
    """A JSON option's object, empty where there is none or it is no JSON."""
    try:
        parsed = json.loads(value or "{}")
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def engines(resource: Resource) -> tuple[VllmServer, ...]:
    """One server an engine: its leader where followers run the same command line headless."""
    servers = vllm_servers(resource)
    with_api = tuple(server for server in servers if not server.is_headless)
    return with_api or servers[:1]


def is_multi_node(resource: Resource) -> bool:
    """Whether one engine of this object spans several pods, as far as its flags or its Ray group say.

    Raises:
        NotDecidedError: the number of nodes is not known yet.
    """
    return any(server.spans_nodes for server in vllm_servers(resource))
