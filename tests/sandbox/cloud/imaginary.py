"""An account with a network, a cluster and a launch template in it, for tests of what comes on top."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalog.efa_layout import efa_layout
from sandbox.cloud.account import Account, Resource
from sandbox.cloud.service import Service
from sandbox.cloud.settings import ProviderSettings

SETTINGS = ProviderSettings("us-east-1", "111122223333", {"team": "ml"})
VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
CLUSTER = "aws:eks/cluster:Cluster"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:eks/nodeGroup:NodeGroup"

NODE_CONFIG = """
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0
  kubelet:
    maxPodsExpression: "((default_enis - 1) * (ips_per_eni - 1)) + 2"
"""


def encoded(node_config: str) -> str:
    """User data as a launch template has it: MIME parts, in base64."""
    lines = [
        "MIME-Version: 1.0",
        'Content-Type: multipart/mixed; boundary="//"',
        "",
        "--//",
        "Content-Type: application/node.eks.aws",
        "",
        node_config,
        "--//--",
        "",
    ]
    return base64.b64encode("\n".join(lines).encode()).decode()


class RecordingCluster:
    """A cluster that only remembers which groups have how many nodes."""

    endpoint = "https://127.0.0.1:6443"
    certificate_authority = "Y2E="

    def __init__(self) -> None:
        self.desired: dict[str, int] = {}
        self.templates: dict[str, Mapping[str, Any] | None] = {}

    def set_nodes(self, group: Resource, template: Mapping[str, Any] | None, account: Account) -> None:
        name = group.state["nodeGroupName"]
        self.desired[name] = group.inputs["scalingConfig"]["desiredSize"]
        self.templates[name] = template

    def remove_nodes(self, group_name: str) -> None:
        self.desired.pop(group_name, None)


class Imaginary:
    """The account and shortcuts to make things in it. ``subnets`` are in three zones, a, b and c."""

    def __init__(self, folder: Path) -> None:
        self.cluster_behind = RecordingCluster()
        self.service = Service(Account(folder / "account.sqlite"), self.cluster_behind)
        self.vpc = self.make(VPC, cidrBlock="10.0.0.0/16")
        self.subnets = [
            self.make(
                SUBNET, vpcId=self.vpc.id, cidrBlock=f"10.0.{16 * number}.0/20", availabilityZoneId=f"use1-az{zone}"
            )
            for number, zone in enumerate((1, 2, 3))
        ]
        self.cluster = self.make(
            CLUSTER,
            name="gpu",
            roleArn="arn:aws:iam::111122223333:role/cluster",
            version="1.36",
            vpcConfig={"subnetIds": [subnet.id for subnet in self.subnets]},
        )

    @property
    def account(self) -> Account:
        return self.service.account

    @property
    def cluster_security_group(self) -> str:
        return str(self.cluster.outputs["vpcConfig"]["clusterSecurityGroupId"])

    def make(self, token: str, urn_name: str = "x", **inputs: Any) -> Resource:
        return self.service.create(token, f"urn:pulumi:dev::p::{token}::{urn_name}", inputs, SETTINGS)

    def change(self, resource: Resource, **inputs: Any) -> Resource:
        return self.service.update(resource.type, resource.id, resource.urn, {**resource.inputs, **inputs})

    def template(self, **values: Any) -> dict[str, Any]:
        """A right template of p5.48xlarge nodes; ``values`` change it, None takes a key out."""
        interfaces = [
            {
                "deviceIndex": interface.device,
                "networkCardIndex": interface.card,
                "interfaceType": interface.type,
                "securityGroups": [self.cluster_security_group],
            }
            for interface in efa_layout("p5.48xlarge")
        ]
        template: dict[str, Any] = {
            "name": "p5",
            "instanceType": "p5.48xlarge",
            "networkInterfaces": interfaces,
            "userData": encoded(NODE_CONFIG),
            **values,
        }
        return {key: value for key, value in template.items() if value is not None}

    def group(self, template: Resource, **values: Any) -> dict[str, Any]:
        """A right node group of two nodes on a template; ``values`` change it, None takes a key out."""
        group: dict[str, Any] = {
            "clusterName": "gpu",
            "nodeGroupName": "p5",
            "nodeRoleArn": "arn:aws:iam::111122223333:role/node",
            "subnetIds": [self.subnets[0].id],
            "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2},
            "amiType": "AL2023_x86_64_NVIDIA",
            "releaseVersion": "1.36.2-20260714",
            "launchTemplate": {"id": template.id, "version": "1"},
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
            **values,
        }
        return {key: value for key, value in group.items() if value is not None}
