"""EKS add-ons, all of them our own: pinned versions, and AWS rights by Pod Identity instead of by the nodes' role.

Two of these stand in a cluster, since nodes come between them: ``before nodes`` (networking and the Pod Identity agent:
without them no node becomes Ready, and vpc-cni has no rights) and ``after nodes`` (what needs a node to run on).
Inputs: which add-ons, the cluster's name. Outputs: ``add_ons``, to depend on. Creates: an ``aws.eks.Addon`` each, and a
role where the add-on calls AWS. Raises: UnknownFactError for an add-on without a pinned version.
Replacement: the add-on's name. An update keeps what somebody configured beside us only where we say nothing
(``OVERWRITE``: the program is the truth). Deleted one by one, after the nodes, although they would go with the cluster:
where the cluster's own deletion fails or is refused, add-ons that were only forgotten would block the next ``up``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from catalog.eks_pins import eks_pins
from components import iam_documents
from components.aws_arguments import partition
from components.model_cache_args import CacheKind

TYPE: Final = "gpu-inference:index:ClusterAddOns"


@dataclass(frozen=True)
class AddOn:
    """One add-on: its configuration, and the rights of its service account."""

    name: str
    configuration: dict[str, Any] = field(default_factory=dict)
    service_account: str | None = None
    managed_policies: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """Actions that no managed policy gives so narrowly."""


# enableNetworkPolicy: a NetworkPolicy does nothing on EKS without it (facts/aws.md section 11).
# WARM_*: the defaults warm a whole interface's addresses a node, 50 on a p5, which the node never uses; 4 spare ones
# and 16 from the start serve a node of 8 GPUs (facts/aws.md 5, "vpc-cni on multi-NIC nodes").
_VPC_CNI: Final = {
    "enableNetworkPolicy": "true",
    "env": {"MINIMUM_IP_TARGET": "16", "WARM_ENI_TARGET": "0", "WARM_IP_TARGET": "4"},
}

BEFORE_NODES: Final = (
    AddOn("eks-pod-identity-agent"),
    AddOn("vpc-cni", _VPC_CNI, "aws-node", ("AmazonEKS_CNI_Policy",)),
    AddOn("kube-proxy"),
)

_AFTER_NODES: Final = (
    AddOn("coredns"),
    AddOn("aws-ebs-csi-driver", {}, "ebs-csi-controller-sa", ("service-role/AmazonEBSCSIDriverPolicy",)),
    AddOn("eks-node-monitoring-agent"),
    AddOn("metrics-server"),
)
_CACHE_DRIVERS: Final[dict[str, AddOn]] = {
    # The volume is made here, not by the driver: it only looks, so it gets no right to create or delete.
    "fsx": AddOn("aws-fsx-csi-driver", {}, "fsx-csi-controller-sa", (), ("fsx:DescribeFileSystems",)),
    "efs": AddOn("aws-efs-csi-driver", {}, "efs-csi-controller-sa", ("service-role/AmazonEFSCSIDriverPolicy",)),
}


def after_nodes(cache: CacheKind) -> tuple[AddOn, ...]:
    """The add-ons that need a node, with the CSI driver of the model cache."""
    return _AFTER_NODES + ((_CACHE_DRIVERS[cache],) if cache in _CACHE_DRIVERS else ())


def add_on_body(add_on: AddOn) -> dict[str, Any]:
    """The plain inputs of the ``aws.eks.Addon``."""
    body: dict[str, Any] = {
        "addon_name": add_on.name,
        "addon_version": eks_pins().add_on(add_on.name),
        "resolve_conflicts_on_create": "OVERWRITE",
        "resolve_conflicts_on_update": "OVERWRITE",
    }
    if add_on.configuration:
        body["configuration_values"] = json.dumps(add_on.configuration, sort_keys=True)
    return body


class ClusterAddOns(pulumi.ComponentResource):
    """See the module's text."""

    add_ons: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        add_ons: Sequence[AddOn],
        *,
        cluster_name: pulumi.Input[str],
        region: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, {"add_ons": [add_on.name for add_on in add_ons]}, opts)
        self._name = name
        self._partition = partition(region)
        self.add_ons = [self._add_on(add_on, cluster_name) for add_on in add_ons]
        self.register_outputs({})

    def _add_on(self, add_on: AddOn, cluster_name: pulumi.Input[str]) -> aws.eks.Addon:
        opts = pulumi.ResourceOptions(parent=self)
        body = add_on_body(add_on)
        if add_on.service_account:
            role, rights = self._role(add_on)
            body["pod_identity_associations"] = [{"role_arn": role.arn, "service_account": add_on.service_account}]
            opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=rights))
        return aws.eks.Addon(f"{self._name}-{add_on.name}", cluster_name=cluster_name, **body, opts=opts)

    def _role(self, add_on: AddOn) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
        child = pulumi.ResourceOptions(parent=self)
        name = f"{self._name}-{add_on.name}"
        role = aws.iam.Role(
            name, assume_role_policy=iam_documents.as_text(iam_documents.pod_identity_trust()), opts=child
        )
        rights: list[pulumi.Resource] = [
            aws.iam.RolePolicyAttachment(
                f"{name}-{policy.rpartition('/')[2]}",
                role=role.name,
                policy_arn=iam_documents.managed_policy(self._partition, policy),
                opts=child,
            )
            for policy in add_on.managed_policies
        ]
        if add_on.actions:
            document = iam_documents.allow(add_on.actions, ["*"])
            rights.append(aws.iam.RolePolicy(name, role=role.id, policy=iam_documents.as_text(document), opts=child))
        return role, rights
