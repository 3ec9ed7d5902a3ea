"""The EKS control plane: ``pulumi_eks.Cluster`` with everything switched off that we own ourselves.

Inputs: the stack's ``cluster.eks`` section, the Kubernetes version to run (not below what is there), subnets. Outputs:
``name``, ``kubeconfig`` (JSON; it calls ``aws eks get-token`` and holds no credential) and ``security_group_id`` (the
one that EKS makes: it belongs on every node's primary interface).
Creates: a KMS key with alias, the log group, and the component's children: the cluster, its role, an access entry with
its policy for each entry of ``access``.
Switched off, with why (facts/aws.md 9.1 and 11): the default node group and its security groups (ours carry EFA and
reservations), vpc-cni, kube-proxy and CoreDNS (unpinned there; a second add-on of the same name collides), the
self-managed copies of the three, the aws-auth ConfigMap (authentication mode API).
Not to be switched off: the creating principal becomes an administrator.
Raises: nothing of its own. Replacement: name, VPC or subnets' zones, the KMS key. Day two: EKS upgrades the version by
itself at the end of standard support; that is never undone (infra/cluster_version.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

from catalog.eks_pins import eks_pins
from components.aws_arguments import partition
from components.eks_cluster_args import ALL_LOG_TYPES, AccessEntryArgs, EksClusterArgs

TYPE: Final = "gpu-inference:index:EksCluster"
_ACCESS_POLICIES: Final = {
    "cluster-admin": "AmazonEKSClusterAdminPolicy",
    "admin": "AmazonEKSAdminPolicy",
    "edit": "AmazonEKSEditPolicy",
    "view": "AmazonEKSViewPolicy",
}
KMS_DELETION_WINDOW_DAYS: Final = 30


def access_entry(entry: AccessEntryArgs, region: str) -> dict[str, Any]:
    """One of ``pulumi_eks.Cluster``'s access entries: a principal with one EKS access policy."""
    scope: dict[str, Any] = {"type": "cluster"}
    if entry.namespaces:
        scope = {"type": "namespace", "namespaces": list(entry.namespaces)}
    policy = f"arn:{partition(region)}:eks::aws:cluster-access-policy/{_ACCESS_POLICIES[entry.policy]}"
    return {
        "principal_arn": entry.principal_arn,
        "access_policies": {entry.policy: {"policy_arn": policy, "access_scope": scope}},
    }


def endpoint_access(args: EksClusterArgs) -> dict[str, Any]:
    """Which ways lead to the API endpoint. Always the private one: nodes and their pods use it."""
    cidrs = args.public_cidrs
    found: dict[str, Any] = {"endpoint_private_access": True, "endpoint_public_access": cidrs is not None}
    if cidrs is not None:
        found["public_access_cidrs"] = cidrs
    return found


def protect_control_plane(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Protects the cluster itself among the component's children.

    ``protect`` on the component would reach them all: no access entry could be taken back without unprotecting.
    """
    if args.type_ != "aws:eks/cluster:Cluster":
        return None
    protected = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(protect=True))
    return pulumi.ResourceTransformResult(args.props, protected)


class EksCluster(pulumi.ComponentResource):
    """See the module's text."""

    name: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    security_group_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: EksClusterArgs,
        *,
        version: pulumi.Input[str],
        vpc_id: pulumi.Input[str],
        public_subnet_ids: Sequence[pulumi.Input[str]],
        private_subnet_ids: Sequence[pulumi.Input[str]],
        region: str,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, args.plain(), opts)
        child = pulumi.ResourceOptions(parent=self)
        kept = pulumi.ResourceOptions(parent=self, protect=protect)
        key = aws.kms.Key(
            name,
            description=f"Kubernetes API data of {args.name}",
            enable_key_rotation=True,
            deletion_window_in_days=KMS_DELETION_WINDOW_DAYS,
            opts=kept,
        )
        aws.kms.Alias(name, name=f"alias/eks/{args.name}", target_key_id=key.key_id, opts=child)
        # Made before EKS makes it: its own would keep logs for ever.
        logs = aws.cloudwatch.LogGroup(
            name, name=f"/aws/eks/{args.name}/cluster", retention_in_days=args.log_retention_days, opts=child
        )
        cluster = eks.Cluster(
            name,
            name=args.name,
            version=version,
            vpc_id=vpc_id,
            public_subnet_ids=list(public_subnet_ids),
            private_subnet_ids=list(private_subnet_ids),
            **endpoint_access(args),
            authentication_mode=eks.AuthenticationMode.API,
            access_entries={entry.name: access_entry(entry, region) for entry in args.access},
            enabled_cluster_log_types=list(ALL_LOG_TYPES),
            encryption_config_key_arn=key.arn,
            upgrade_policy={"support_type": eks_pins().upgrade_policy},
            deletion_protection=protect,
            skip_default_node_group=True,
            skip_default_security_groups=True,
            create_instance_role=False,
            create_oidc_provider=False,  # Pod Identity needs none
            bootstrap_self_managed_addons=False,
            use_default_vpc_cni=True,  # "the default", that is none of the component's own
            kube_proxy_addon_options={"enabled": False},
            coredns_addon_options={"enabled": False},
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[logs], transforms=[protect_control_plane] if protect else []
            ),
        )
        made = cluster.eks_cluster
        self.name = made.apply(lambda resource: resource.name)
        self.security_group_id = made.apply(lambda resource: resource.vpc_config.cluster_security_group_id)
        self.kubeconfig = cluster.kubeconfig_json
        self.register_outputs({"name": self.name, "security_group_id": self.security_group_id})
