"""Reads files into resources: YAML (many documents, ``kind: List``), JSON manifests, Pulumi resources, stack exports.

Line numbers cost nothing until a finding asks for them: a resource keeps its document's parsed nodes (YAML) or the text
(JSON), and looks a path up in them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from policies.model import Path as BodyPath
from policies.model import Resource
from policies.unknowns import Unknown, at, text

# libyaml's loader where the wheel has it: five times as fast as the Python one.
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SUFFIXES = {".yaml", ".yml", ".json"}
# Markers in Pulumi's JSON: what stands for a value that a preview does not know (one a kind of value), and the key and
# kinds of special objects (sdk/go/common/resource/plugin/rpc.go and properties.go).
_UNKNOWN_MARKERS = {
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
}
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a public marker, not a secret
_RESOURCE_REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"
_MAX_DEPTH = 100
_MAP, _SEQUENCE, _TEXT = (f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str"))


class InputError(Exception):
    """A file that can't be read or isn't what it should be; the text names file, line and remedy."""


def load(arguments: list[str]) -> list[Resource]:
    """The resources in files, in the files of folders (recursively), and in standard input for ``-``.

    Raises:
        InputError: nothing there, or not readable as YAML or JSON.
    """
    resources: list[Resource] = []
    for argument in arguments:
        if argument == "-":
            resources += parse(sys.stdin.buffer.read().decode("utf-8", errors="replace"), "<stdin>")
            continue
        path = Path(argument)
        for file in _files(path):
            resources += parse(_read(file), str(file))
    return resources


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES and file.is_file())
    if not files:
        raise InputError(f"{path}: the folder holds no {', '.join(sorted(_SUFFIXES))} file")
    return files


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read as UTF-8 text: {error}") from None


def parse(content: str, file: str) -> list[Resource]:
    """The resources in a text; ``file`` is the name that findings carry.

    Raises:
        InputError: neither YAML nor JSON, or JSON that holds no resources.
    """
    content = content.removeprefix("\ufeff")
    if content.lstrip()[:1] in ("{", "["):
        try:
            return list(_from_json(json.loads(content), content, file))
        except json.JSONDecodeError as error:
            if file.endswith(".json"):
                raise InputError(f"{file}:{error.lineno}: not valid JSON: {error.msg}") from None
        except RecursionError:
            raise InputError(f"{file}: nested too deeply to be a manifest") from None
    return list(_from_yaml(content, file))


class _Loader(_BASE):  # type: ignore[misc]  # the base is chosen at run time
    """The safe loader with its two slow steps remembered: manifests repeat the same few keys and values."""

    def __init__(self, content: str, file: str) -> None:
        super().__init__(content)
        self.file = file
        self._hint = _template_hint(content)
        self._tags: dict[Any, str] = {}
        self._scalars: dict[tuple[str, str], Any] = {}
        self._built: dict[int, Any] = {}
        self._open: set[int] = set()

    def resolve(self, kind: type, value: str | None, implicit: Any) -> str:
        """The tag of a node, as the base finds it."""
        key = (kind, value, implicit)
        tag = self._tags.get(key)
        if tag is None:
            tag = self._tags[key] = super().resolve(kind, value, implicit)
        return tag

    def build(self, node: Any) -> Any:
        """The plain data of a node; aliases share one object.

        Raises:
            InputError: an anchor that contains itself: no manifest does, and rules would never end.
        """
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self._built:
            return self._built[id(node)]
        if id(node) in self._open or len(self._open) > _MAX_DEPTH:
            raise InputError(f"{self._place(node)}: an anchor contains itself, or nesting is too deep")
        self._open.add(id(node))
        if node.tag not in (_MAP, _SEQUENCE):
            built = self.construct_object(node, deep=True)
        elif isinstance(node, yaml.SequenceNode):
            built = [self.build(child) for child in node.value]
        else:
            self.flatten_mapping(node)
            built = {self._key(key): self.build(value) for key, value in node.value}
        self._open.discard(id(node))
        self._built[id(node)] = built
        return built

    def _scalar(self, node: Any) -> Any:
        if node.tag == _TEXT:
            return node.value
        key = (node.tag, node.value)
        if key not in self._scalars:
            self._scalars[key] = self.construct_object(node)
        return self._scalars[key]

    def _key(self, node: Any) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise InputError(f"{self._place(node)}: a list or a mapping can't be a key{self._hint}")
        return self._scalar(node)

    def _place(self, node: Any) -> str:
        return f"{self.file}:{node.start_mark.line + 1}"


def _from_yaml(content: str, file: str) -> Iterator[Resource]:
    loader: Any = None
    try:
        loader = _Loader(content, file)
        while loader.check_node():
            node = loader.get_node()
            yield from _manifests(loader.build(node), node, file)
    except yaml.YAMLError as error:
        raise InputError(_yaml_error(error, content, file)) from None
    except RecursionError:
        raise InputError(f"{file}: nested too deeply to be a manifest") from None
    except (ValueError, TypeError, OverflowError) as error:  # a date with month 13, a character that isn't text
        raise InputError(f"{file}: not a readable YAML value: {error}") from None
    finally:
        if loader is not None:
            loader.dispose()


def _yaml_error(error: yaml.YAMLError, content: str, file: str) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"{file}:{mark.line + 1}" if mark else file
    return f"{place}: not valid YAML: {getattr(error, 'problem', None) or error}{_template_hint(content)}"


def _template_hint(content: str) -> str:
    return " (a Helm template? helm template … | python -m policies.check -)" if "{{" in content else ""


def _manifests(body: Any, node: Any, file: str, prefix: BodyPath = ()) -> Iterator[Resource]:
    """The Kubernetes objects of one document: itself, or the items of a List (of any ``…List`` kind)."""
    if not isinstance(body, dict):
        return
    kind = text(body.get("kind")) or ""
    items = body.get("items")
    if kind.endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from _manifests(item, node, file, (*prefix, "items", index))
        return
    if not kind or "apiVersion" not in body:
        return

    def lines(path: BodyPath) -> int:
        return _node_line(node, (*prefix, *path))

    yield _manifest(body, file, lines)


def _manifest(body: dict[str, Any], file: str, lines: Callable[[BodyPath], int], fallback_name: str = "") -> Resource:
    name = at(body, "metadata", "name") or at(body, "metadata", "generateName")
    kind = f"{text(body.get('apiVersion')) or ''}/{text(body.get('kind')) or ''}"
    return Resource(kind, text(name) or fallback_name, body, file, lines(()), lines=lines)


def _node_line(node: Any, path: BodyPath) -> int:
    """The line (from 1) of the deepest node on ``path``."""
    line: int = node.start_mark.line + 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == step), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _from_json(data: Any, content: str, file: str) -> Iterator[Resource]:
    @cache
    def root() -> Any:
        try:
            return yaml.compose(content, Loader=_BASE)
        except yaml.YAMLError:
            return None  # JSON that YAML reads differently (tabs): findings then point at line 1

    def lines_from(prefix: BodyPath) -> Callable[[BodyPath], int]:
        return lambda path: _node_line(root(), (*prefix, *path)) if root() else 1

    deployment = at(data, "deployment")
    if isinstance(deployment, dict):
        for index, row in enumerate(deployment.get("resources") or ()):
            if isinstance(row, dict):
                yield from _pulumi(row, "inputs", file, lines_from(("deployment", "resources", index)))
        return
    for index, row in enumerate(data if isinstance(data, list) else [data]):
        prefix: BodyPath = (index,) if isinstance(data, list) else ()
        if isinstance(row, dict) and "type" in row and "kind" not in row:
            yield from _pulumi(row, "properties", file, lines_from(prefix))
        elif isinstance(row, dict) and "kind" in row:
            yield from _json_manifests(row, file, lines_from(prefix))
        elif not isinstance(data, list) or not isinstance(row, dict):
            raise InputError(
                f"{file}: no resources: expected manifests, a list of {{type, name, properties}}, or a stack export"
            )


def _json_manifests(body: dict[str, Any], file: str, lines: Callable[[BodyPath], int]) -> Iterator[Resource]:
    if (text(body.get("kind")) or "").endswith("List") and isinstance(body.get("items"), list):
        for index, item in enumerate(body["items"]):
            if isinstance(item, dict):
                step: BodyPath = ("items", index)
                yield from _json_manifests(item, file, lambda path, step=step: lines((*step, *path)))  # type: ignore[misc]
    elif "apiVersion" in body and "kind" in body:
        yield _manifest(body, file, lines)


def _pulumi(
    row: dict[str, Any], properties_key: str, file: str, lines: Callable[[BodyPath], int]
) -> Iterator[Resource]:
    """One resource of a Pulumi program or state: its inputs, since outputs hold what the provider filled in."""
    token, urn = row.get("type"), row.get("urn")
    if not isinstance(token, str) or row.get("delete"):
        return
    name = row.get("name") or (urn.rsplit("::", 1)[-1] if isinstance(urn, str) else "")
    body = plain(row.get(properties_key) or {}, "")

    def inner(path: BodyPath) -> int:
        return lines((properties_key, *path) if path else ())

    identity = {"id": text(row.get("id")) or "", "urn": urn if isinstance(urn, str) else ""}
    yield pulumi_resource(token, text(name) or "", body, file=file, line=lines(()), lines=inner, **identity)


def pulumi_resource(token: str, name: str, body: Any, **where: Any) -> Resource:
    """The resource of a Pulumi type token; a Kubernetes object becomes the same as its manifest would."""
    properties = body if isinstance(body, dict) else {}
    parts = token.split(":")
    is_ours = parts[0] == "kubernetes" and len(parts) == 3
    # A …Patch is part of somebody else's object, which the rest of it is needed to judge.
    is_object = is_ours and not parts[1].startswith(("helm.sh", "yaml", "kustomize")) and not parts[2].endswith("Patch")
    if not is_object:
        return Resource(token, name, properties, **where)
    # kubernetes:core/v1:Service has apiVersion v1.
    version = _text_or(properties.get("apiVersion"), parts[1].removeprefix("core/"))
    kind = _text_or(properties.get("kind"), parts[2])
    return Resource(f"{version}/{kind}", _text_or(at(properties, "metadata", "name"), name), properties, **where)


def _text_or(value: Any, fallback: str) -> str:
    return value if isinstance(value, str) and value else fallback


def plain(value: Any, path: str) -> Any:
    """Pulumi's JSON as plain data: unknown values and secrets become ``Unknown``, whole floats become integers."""
    if isinstance(value, dict):
        signature = value.get(_SIGNATURE)
        if signature == _SECRET:
            return _secret(value, path)
        if signature == _RESOURCE_REFERENCE:
            return value.get("id") or value.get("urn") or Unknown(path)
        if signature is not None:
            return Unknown(path)  # an asset or an archive
        return {key: plain(item, f"{path}.{key}" if path else key) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, str):
        return Unknown(path) if value in _UNKNOWN_MARKERS else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _secret(value: dict[str, Any], path: str) -> Any:
    """A secret's content where it is shown; rules need it (a token in clear text), messages never repeat it."""
    if "value" in value:  # as the engine sends it to a policy pack
        return plain(value["value"], path)
    try:
        return plain(json.loads(value["plaintext"]), path)
    except (KeyError, TypeError, ValueError):
        return Unknown(path)
