"""Runs the program under Pulumi's mocks and records what it declares. Mocks check nothing: the tests do."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

import pulumi

from infra.program import compose
from infra.settings import StackSettings, parse_settings
from tests.stack_files import flat, stack_config

# How the engine's protocol marks a reference to a resource (pulumi.runtime.rpc).
_SIGNATURE = pulumi.runtime.rpc._special_sig_key
_RESOURCE = pulumi.runtime.rpc._special_resource_sig
NOW = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Declared:
    """One resource as the program declares it; property names as the engine gets them."""

    type: str
    name: str
    inputs: dict[str, Any]
    provider: str


@dataclass
class Recorder(pulumi.runtime.Mocks):
    """Answers as the providers would, as far as the program reads an answer. Unknown invokes raise."""

    running_version: str | None = None
    """The Kubernetes version of a cluster that is there already; None: there is none."""
    cluster_name: str = ""
    declared: list[Declared] = field(default_factory=list)

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.declared.append(Declared(args.typ, args.name, dict(args.inputs), args.provider or ""))
        outputs = dict(args.inputs)
        short = args.typ.rpartition(":")[2].lower()
        identifier = f"{short}-{args.name}"
        outputs.setdefault("arn", f"arn:aws:mock:::{identifier}")
        outputs.setdefault("name", args.name)
        if args.typ == "aws:ec2/launchTemplate:LaunchTemplate":
            outputs["latestVersion"] = 1
        if args.typ == "aws:eks/nodeGroup:NodeGroup":
            outputs["resources"] = [{"autoscalingGroups": [{"name": f"asg-{args.name}"}]}]
        if args.typ == "eks:index:Cluster":
            outputs["kubeconfigJson"] = "{}"
            outputs["eksCluster"] = self._child_cluster(args.inputs["name"])
        if args.typ == "aws:fsx/lustreFileSystem:LustreFileSystem":
            outputs |= {"dnsName": "fs.example", "mountName": "abcdef"}
        return identifier, outputs

    def _child_cluster(self, name: str) -> dict[str, Any]:
        """A reference to the component's own child, as the SDK reads it."""
        monitor = pulumi.runtime.settings.get_monitor()
        type_ = "aws:eks/cluster:Cluster"
        urn = monitor.make_urn("", f"eks:index:Cluster${type_}", "cluster-eksCluster")
        state = {"name": name, "vpcConfig": {"clusterSecurityGroupId": "sg-cluster"}}
        monitor.resources[urn] = monitor.ResourceRegistration(urn, name, state)
        return {_SIGNATURE: _RESOURCE, "urn": urn, "id": name}

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        if args.token == "aws:eks/getClusters:getClusters":
            return {"names": [self.cluster_name] if self.running_version else []}
        if args.token == "aws:eks/getCluster:getCluster":
            return {"name": self.cluster_name, "version": self.running_version}
        raise AssertionError(f"the program calls {args.token}")

    def one(self, type_: str, name: str | None = None) -> Declared:
        """The only resource of a type (and name)."""
        found = [entry for entry in self.declared if entry.type == type_ and name in (None, entry.name)]
        assert len(found) == 1, f"{len(found)} resources {type_} {name or ''}"
        return found[0]

    def of(self, type_: str) -> list[Declared]:
        """All resources of a type."""
        return [entry for entry in self.declared if entry.type == type_]


def stack_settings(stack: str, changes: dict[str, Any] | None = None) -> StackSettings:
    """The settings of a stack file of the repository, with whole sections changed."""
    config = stack_config(stack) | {f"gpu-inference:{key}": value for key, value in (changes or {}).items()}
    return parse_settings(flat({key: value for key, value in config.items() if value is not None}), [], stack)


def record(
    settings: StackSettings, stack: str, *, running_version: str | None = None, now: datetime.datetime = NOW
) -> Recorder:
    """What the program declares for these settings."""
    assert settings.cluster.eks is not None
    recorder = Recorder(running_version, settings.cluster.eks.name)

    pulumi.runtime.set_mocks(recorder, project="gpu-inference", stack=stack, preview=False)

    @pulumi.runtime.test
    def program() -> None:
        compose(settings, stack, [], kubeconfig=None, admission=None, now=now)

    program()
    return recorder
