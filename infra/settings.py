"""The stack's config as one frozen object. The only reader of config.

A section of the stack file is the Args model of what it configures. Wrong values stop the run before any resource, as
sentences that name the stack file, the path in it, the bad value and what is allowed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import ValidationError, model_validator

from components.admission_policies import AdmissionPoliciesArgs
from components.arguments import Args, NotEmpty
from components.eks_cluster_args import EksClusterArgs
from components.external_secrets import ExternalSecretArgs
from components.model_cache_args import ModelCacheArgs
from components.model_server_args import ModelServerArgs
from components.network_args import NetworkArgs
from components.node_group_args import NodeGroupArgs
from components.serving_namespace import ServingNamespaceArgs
from components.system_node_group import SystemNodesArgs
from infra.aws_settings import AwsSettings

PROJECT: Final = "gpu-inference"


class ExistingCluster(Args):
    """A cluster that is already there."""

    kubeconfig: str
    """Path of its kubeconfig, relative to the project's root; a path, so that no credential enters the state."""
    context: str | None = None


class ClusterSettings(Args):
    """Which cluster everything runs on: one that is there, or an EKS cluster of our own."""

    existing: ExistingCluster | None = None
    eks: EksClusterArgs | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> ClusterSettings:
        if (self.existing is None) == (self.eks is None):
            raise ValueError("exactly one of existing and eks says which cluster is meant")
        return self


class MonitoringSettings(Args):
    """The Prometheus that scrapes the model servers and that KEDA asks."""

    # Headless Service of the Prometheus operator itself: its name doesn't depend on the release's (facts/serving.md 5).
    prometheus_address: str = "http://prometheus-operated.monitoring.svc.cluster.local:9090"
    release_label: str = "kube-prometheus-stack"
    """Value of the label ``release`` that the operator's Prometheus selects monitors by."""


class StackSettings(Args):
    """Everything that a stack decides."""

    cluster: ClusterSettings
    aws: AwsSettings | None = None
    network: NetworkArgs | None = None
    system_nodes: SystemNodesArgs | None = None
    """Nodes without GPUs of an EKS cluster of our own; None: the defaults."""
    node_groups: Annotated[tuple[NodeGroupArgs, ...], NotEmpty]
    namespace: ServingNamespaceArgs = ServingNamespaceArgs()
    admission: AdmissionPoliciesArgs = AdmissionPoliciesArgs()
    model_cache: ModelCacheArgs
    external_secrets: tuple[ExternalSecretArgs, ...] = ()
    """Kubernetes Secrets that come from AWS Secrets Manager; others must be there already."""
    monitoring: MonitoringSettings = MonitoringSettings()
    model_servers: Annotated[tuple[ModelServerArgs, ...], NotEmpty]
    protect: bool = False
    """Refuse to delete what is stateful or slow to get back: VPC, KMS key, cluster, file system, claim.

    Twice: the engine refuses, and EKS does (its deletion protection).
    """

    def node_group(self, name: str) -> NodeGroupArgs:
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
        raise SettingsError(stack_file(stack), [_problem(entry, document) for entry in error.errors()]) from None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _problem(entry: Any, document: Any) -> Problem:
    path = _path(entry["loc"], document, last_is_missing=entry["type"] == "missing")
    message = entry["msg"].removeprefix("Value error, ")
    kind, given = entry["type"], entry["input"]
    if kind == "extra_forbidden":
        message = "unknown key; remove it or correct its spelling"
    elif kind == "missing":
        message = "is missing and has no default"
    elif kind == "union_tag_invalid":
        message = f"{entry['ctx']['tag']!r} is no kind of it; allowed: {entry['ctx']['expected_tags']}"
    elif kind == "union_tag_not_found":
        message = "says no kind"
    elif not isinstance(given, dict | list):
        message = f"{message} (it is {given!r})"
    return Problem(path or "(top level)", message[0].lower() + message[1:])


def _path(location: Sequence[str | int], document: Any, *, last_is_missing: bool) -> str:
    """The place as the file has it: pydantic also names which kind of a union it tried, which is no key there."""
    path, node, last = "", document, len(location) - 1
    for index, part in enumerate(location):
        if isinstance(part, int):
            path += f"[{part}]"
            node = node[part] if isinstance(node, list) and part < len(node) else None
        elif not isinstance(node, dict) or part in node or (last_is_missing and index == last):
            path += f"{'.' if path else ''}{part}"
            node = node.get(part) if isinstance(node, dict) else None
    return path
