"""What rules judge and what they answer: resources, sets of them, rules, outcomes and findings.

A rule is one file in ``policies/rules`` that defines ``RULE``. It is asked once for each resource whose ``group_kind``
is in ``applies_to``, and yields outcomes (nothing where the resource passes or is none of its business):

    def check(resource: Resource, resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
        if …:
            yield violation("what is wrong here and what to write instead", "spec", "replicas")

Values that are not known yet: see ``policies.unknowns``. A rule does nothing about them unless it can still decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from policies.unknowns import Unknown, at, is_unknown, known, mapping, text

Severity = Literal["mandatory", "advisory"]
Verdict = Literal["violation", "advice", "undecided"]
Path = tuple[str | int, ...]
Parameters = Mapping[str, Any]
"""A rule's parameters: the defaults of its ``Parameter`` rows, overridden by the environment's file."""


@dataclass(frozen=True, eq=False)
class Resource:
    """One Kubernetes object, or one resource of a Pulumi program that is none.

    ``type`` is ``apps/v1/Deployment`` for Kubernetes objects and the Pulumi type token otherwise (Helm releases too:
    ``kubernetes:helm.sh/v3:Release``). ``body`` is the whole manifest, or the properties in the provider's camelCase.
    ``name`` is ``metadata.name``, or the Pulumi name where there is none. ``line`` is the object's first line in
    ``file``; ``lines`` finds the line of a path inside it.
    """

    type: str
    name: str
    body: dict[str, Any]
    file: str = ""
    line: int = 0
    id: str = ""
    urn: str = ""
    lines: Callable[[Path], int] | None = field(default=None, repr=False)

    @property
    def is_kubernetes(self) -> bool:
        """Whether this is a Kubernetes object."""
        return ":" not in self.type

    @property
    def kind(self) -> str:
        """``Deployment``, or the last part of the type token."""
        return self.type.rsplit("/" if self.is_kubernetes else ":", 1)[-1]

    @cached_property
    def group_kind(self) -> str:
        """What ``applies_to`` names: kubectl's ``Deployment.apps``, ``Service``, or the type token."""
        if not self.is_kubernetes:
            return self.type
        version, _, kind = self.type.rpartition("/")
        group, slash, _ = version.rpartition("/")
        return f"{kind}.{group}" if slash else kind

    @property
    def label(self) -> str:
        """How findings name it: ``Deployment/chat`` or ``aws:eks/nodeGroup:NodeGroup/p5``."""
        return f"{self.kind if self.is_kubernetes else self.type}/{self.name}"

    @property
    def namespace(self) -> str:
        """The namespace; ``default`` where the object does not say (or does not know yet)."""
        value = at(self.body, "metadata", "namespace")
        return "default" if is_unknown(value) else text(value) or "default"

    @property
    def labels(self) -> dict[str, Any]:
        """The object's own labels."""
        return mapping(at(self.body, "metadata", "labels"))

    @property
    def annotations(self) -> dict[str, Any]:
        """The object's own annotations."""
        return mapping(at(self.body, "metadata", "annotations"))

    def at(self, *path: str | int) -> Any:
        """What stands at ``path`` in the body, see ``unknowns.at``."""
        return at(self.body, *path)

    def line_of(self, path: Path) -> int:
        """The line of ``path`` in ``file``, or of its nearest parent that stands in the file."""
        return self.lines(path) if self.lines else self.line


class ResourceSet:
    """Everything that is judged together, and ``context``: facts from outside (``cluster_gpus``, ``prometheus``, …)."""

    def __init__(self, resources: Iterable[Resource], context: Mapping[str, Any] | None = None) -> None:
        self.resources = tuple(resources)
        self.context: Mapping[str, Any] = context or {}
        self._by_group_kind: dict[str, list[Resource]] = {}
        for resource in self.resources:
            self._by_group_kind.setdefault(resource.group_kind, []).append(resource)

    def __iter__(self) -> Iterator[Resource]:
        """Each resource, in the order of the input."""
        return iter(self.resources)

    def of(self, *group_kinds: str) -> Iterator[Resource]:
        """The resources of these kinds: ``resources.of("Deployment.apps", "Service")``, ``resources.of("aws:…")``."""
        for group_kind in group_kinds:
            yield from self._by_group_kind.get(group_kind, ())

    def named(self, group_kind: str, name: str, namespace: str | None = None) -> Resource | None:
        """The one resource of that kind and name (and namespace, for namespaced Kubernetes objects), or None."""
        for resource in self.of(group_kind):
            if resource.name == name and namespace in (None, resource.namespace):
                return resource
        return None

    def referenced(self, group_kind: str, reference: Any) -> Resource | None:
        """The resource that a property points at: by its id, its URN, or (in a case file) its name; None if not here.

        Raises:
            NotDecidedError: the reference is not known yet.
        """
        wanted = text(known(reference))
        if not wanted:
            return None
        for resource in self.of(group_kind):
            if wanted in (resource.name, resource.id, resource.urn):
                return resource
        return None


@dataclass(frozen=True)
class Outcome:
    """What a rule says about one resource; no outcome means that it passes. Make it with the three functions below."""

    verdict: Verdict
    message: str
    path: Path = ()


def violation(message: str, *path: str | int) -> Outcome:
    """The rule is broken. ``message``: what is wrong, then what to do, with names and values, never a secret's."""
    return Outcome("violation", message, path)


def advice(message: str, *path: str | int) -> Outcome:
    """Worth a look, and never a reason to refuse."""
    return Outcome("advice", message, path)


def undecided(message: str, *path: str | int) -> Outcome:
    """Can't be decided yet: ``message`` names the value that is not known."""
    return Outcome("undecided", message, path)


@dataclass(frozen=True)
class Parameter:
    """A value that an environment may set. ``kind`` is its JSON schema type; ``meaning`` says unit and effect."""

    default: Any
    kind: Literal["integer", "number", "string", "boolean", "array"]
    meaning: str


Check = Callable[[Resource, ResourceSet, Parameters], Iterable[Outcome]]


@dataclass(frozen=True)
class Rule:
    """One rule.

    ``scope`` is ``object`` where the resource alone decides (the pack then judges it before it is created), ``set``
    where the check looks at other resources or at the context. ``source`` is the incident or document that motivates
    it; ``fix`` is one imperative sentence.
    """

    name: str
    title: str
    source: str
    fix: str
    applies_to: tuple[str, ...]
    check: Check
    scope: Literal["object", "set"] = "object"
    severity: Severity = "mandatory"
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def defaults(self) -> dict[str, Any]:
        """The value of each parameter where an environment says nothing."""
        return {name: parameter.default for name, parameter in self.parameters.items()}


@dataclass(frozen=True)
class Finding:
    """What is reported. ``verdict`` is ``waived`` for a violation that a waiver covers; the message says whose."""

    rule: str
    verdict: Literal["violation", "advice", "waived", "undecided"]
    severity: Severity
    object: str
    message: str
    fix: str
    file: str
    line: int


__all__ = [
    "Check",
    "Finding",
    "Outcome",
    "Parameter",
    "Parameters",
    "Path",
    "Resource",
    "ResourceSet",
    "Rule",
    "Severity",
    "Unknown",
    "advice",
    "undecided",
    "violation",
]
