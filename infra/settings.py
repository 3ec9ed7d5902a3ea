"""The stack's config as one frozen object. The only reader of config.

A section of the stack file is the Args model of what it configures. Wrong values stop the run before any resource, as
sentences that name the stack file, the path in it, the bad value and what is allowed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from components.admission_policies import AdmissionPoliciesArgs
from components.arguments import Args, NotEmpty, ObjectName
from components.model_cache import ModelCacheArgs
from components.model_server_args import ModelServerArgs
from components.serving_namespace import ServingNamespaceArgs

PROJECT: Final = "gpu-inference"


class ExistingCluster(Args):
    """A cluster that is already there."""

    kubeconfig: str
    """Path of its kubeconfig, relative to the project's root; a path, so that no credential enters the state."""
    context: str | None = None


class ClusterSettings(Args):
    """Which cluster everything runs on."""

    existing: ExistingCluster


class NodeGroup(Args):
    """GPU or system nodes of one instance type. The sandbox simulates them from the same lines."""

    name: ObjectName
    instance_type: str
    count: Annotated[int, Field(ge=0, le=1000)]
    """The most nodes that the group ever has."""
    zones: Annotated[tuple[str, ...], NotEmpty]
    """Availability zones, by id (letters differ from account to account)."""


class MonitoringSettings(Args):
    """The Prometheus that scrapes the model servers and that KEDA asks."""

    # Headless Service of the Prometheus operator itself: its name doesn't depend on the release's (facts/serving.md 5).
    prometheus_address: str = "http://prometheus-operated.monitoring.svc.cluster.local:9090"
    release_label: str = "kube-prometheus-stack"
    """Value of the label ``release`` that the operator's Prometheus selects monitors by."""


class StackSettings(Args):
    """Everything that a stack decides."""

    cluster: ClusterSettings
    node_groups: Annotated[tuple[NodeGroup, ...], NotEmpty]
    namespace: ServingNamespaceArgs = ServingNamespaceArgs()
    admission: AdmissionPoliciesArgs = AdmissionPoliciesArgs()
    model_cache: ModelCacheArgs
    monitoring: MonitoringSettings = MonitoringSettings()
    model_servers: Annotated[tuple[ModelServerArgs, ...], NotEmpty]

    def node_group(self, name: str) -> NodeGroup:
        """The node group called ``name``; ``KeyError`` where there is none (``checks`` has said so before)."""
        return {group.name: group for group in self.node_groups}[name]


@dataclass(frozen=True)
class Problem:
    """One thing wrong in a stack file: where (``model_servers[0].replicas``) and what, with what is allowed."""

    path: str
    message: str


class SettingsError(Exception):
    """What is wrong in a stack file, all of it at once."""

    def __init__(self, stack_file: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [f"  {PROJECT}:{problem.path}: {problem.message}" for problem in problems]
        count = "1 problem" if len(lines) == 1 else f"{len(lines)} problems"
        super().__init__("\n".join([f"{stack_file} has {count}; nothing was changed.", *lines]))


def stack_file(stack: str) -> str:
    """The stack's file, as a person finds it from the project's root."""
    return f"stacks/Pulumi.{stack}.yaml"


def parse_settings(config: Mapping[str, str], secret_keys: Sequence[str], stack: str) -> StackSettings:
    """Settings from the engine's flat config (``gpu-inference:key`` to JSON or plain text).

    Raises:
        SettingsError: unknown keys, wrong types, values out of range, an encrypted value; all at once.
    """
    prefix = f"{PROJECT}:"
    secrets = [key.removeprefix(prefix) for key in secret_keys if key.startswith(prefix)]
    if secrets:
        message = "is encrypted. Stack files hold no secret: name a Kubernetes Secret or an ARN instead"
        raise SettingsError(stack_file(stack), [Problem(key, message) for key in secrets])
    document = {key.removeprefix(prefix): _value(text) for key, text in config.items() if key.startswith(prefix)}
    try:
        # From JSON and strict: lists may become tuples, but "8" is no number and 1 is no truth value.
        return StackSettings.model_validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        raise SettingsError(stack_file(stack), [_problem(entry) for entry in error.errors()]) from None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _problem(entry: Any) -> Problem:
    path = ""
    for part in entry["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{part}"
    message = entry["msg"].removeprefix("Value error, ")
    kind, given = entry["type"], entry["input"]
    if kind == "extra_forbidden":
        message = "unknown key; remove it or correct its spelling"
    elif kind == "missing":
        message = "is missing and has no default"
    elif not isinstance(given, dict | list):
        message = f"{message} (it is {given!r})"
    return Problem(path or "(top level)", message[0].lower() + message[1:])
