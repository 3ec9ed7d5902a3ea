"""The stand-in for the ``eks`` component plugin: ``pulumi_eks.Cluster`` with the children that our options lead to.

It follows ``createCore`` in pulumi/pulumi-eks, nodejs/eks/cluster/cluster.ts (1069dbbf; its order is kept here),
ServiceRole in nodejs/eks/servicerole.ts and createAccessEntries in nodejs/eks/cluster/authenticationMode.ts.
An option that would lead to another child is refused with its name: a stand-in that left the child out would lie.
The one difference: the kubeconfig is the sandbox's, with a client certificate instead of ``aws eks get-token``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from pulumi.provider import CallResult, ConstructResult, Provider
from pulumi.provider.server import ProviderServicer

from sandbox.certificates import certificate_file, key_file
from sandbox.cloud.plugins import VERSIONS
from sandbox.kubeconfig import CONTEXT
from sandbox.state_folder import StateFolder

CLUSTER_TYPE = "eks:index:Cluster"
SERVICE_ROLE_TYPE = "eks:index:ServiceRole"
CLUSTER_POLICY = "AmazonEKSClusterPolicy"

PLAYED = frozenset(
    {
        "accessEntries", "authenticationMode", "bootstrapSelfManagedAddons", "clusterTags", "corednsAddonOptions",
        "createInstanceRole", "createOidcProvider", "deletionProtection", "enabledClusterLogTypes",
        "encryptionConfigKeyArn", "endpointPrivateAccess", "endpointPublicAccess", "ipFamily", "kubeProxyAddonOptions",
        "kubernetesServiceIpAddressRange", "name", "privateSubnetIds", "providerCredentialOpts", "publicAccessCidrs",
        "publicSubnetIds", "serviceRole", "skipDefaultNodeGroup", "skipDefaultSecurityGroups", "subnetIds", "tags",
        "upgradePolicy", "useDefaultVpcCni", "version", "vpcId",
    }
)  # fmt: skip
"""Inputs of ``Cluster`` that the stand-in plays."""


class EksStandIn(Provider):
    """Answers ``construct`` and ``call`` for ``pulumi_eks.Cluster``."""

    def __init__(self, folder: StateFolder) -> None:
        super().__init__(VERSIONS["eks"])
        self._folder = folder

    def construct(
        self, name: str, resource_type: str, inputs: pulumi.Inputs, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Create the component and its children."""
        if resource_type != CLUSTER_TYPE:
            raise pulumi.RunError(f"The sandbox's stand-in for eks plays {CLUSTER_TYPE} only, not {resource_type}.")
        cluster = _Cluster(name, dict(inputs), self._folder, options)
        return ConstructResult(cluster.urn, cluster.state)

    def call(self, token: str, args: pulumi.Inputs) -> CallResult:  # noqa: ARG002 - there is one function
        """``Cluster.get_kubeconfig``: the same kubeconfig, whatever profile or role it is asked for."""
        cluster = args["__self__"]
        return CallResult(outputs={"result": cluster.kubeconfig_json})


class _ServiceRole(pulumi.ComponentResource):
    """servicerole.ts: a role for the EKS service with its managed policies."""

    def __init__(self, name: str, tags: Any, opts: pulumi.ResourceOptions) -> None:
        super().__init__(SERVICE_ROLE_TYPE, name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        statement = {
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Effect": "Allow",
            "Principal": {"Service": ["eks.amazonaws.com"]},
        }
        self.role = aws.iam.Role(
            f"{name}-role",
            description="Allows EKS to manage clusters on your behalf.",
            assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
            tags=tags,
            opts=child,
        )
        policy = f"arn:aws:iam::aws:policy/{CLUSTER_POLICY}"
        digest = hashlib.sha1(policy.encode(), usedforsecurity=False).hexdigest()[:8]
        self.attachment = aws.iam.RolePolicyAttachment(
            f"{name}-{digest}", policy_arn=policy, role=self.role.name, opts=child
        )
        self.register_outputs({"role": self.role})


class _Cluster(pulumi.ComponentResource):
    """cluster.ts: the component with its children."""

    def __init__(
        self, name: str, inputs: dict[str, Any], folder: StateFolder, opts: pulumi.ResourceOptions | None
    ) -> None:
        super().__init__(CLUSTER_TYPE, name, {}, opts)
        _refuse_what_is_not_played(inputs)
        child = pulumi.ResourceOptions(parent=self)
        role_arn, role_children = self._role(name, inputs, child)
        cluster = aws.eks.Cluster(
            f"{name}-eksCluster",
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=role_children,
                ignore_changes=[
                    "accessConfig.bootstrapClusterCreatorAdminPermissions",
                    "bootstrapSelfManagedAddons",
                ],
            ),
            **_cluster_arguments(name, inputs, role_arn),
        )
        kubeconfig = cluster.endpoint.apply(lambda endpoint: sandbox_kubeconfig(folder, endpoint))
        provider = kubernetes.Provider(f"{name}-eks-k8s", kubeconfig=kubeconfig.apply(json.dumps), opts=child)
        for key, entry in (inputs.get("accessEntries") or {}).items():
            self._access_entry(f"{name}-{key}", entry, cluster)
        oidc = self._oidc_provider(name, cluster, child) if inputs.get("createOidcProvider") is True else None
        security_group = cluster.vpc_config.apply(lambda config: config.cluster_security_group_id or "")
        issuer = cluster.identities.apply(lambda identities: identities[0].oidcs[0].issuer)
        self.kubeconfig_json = kubeconfig.apply(json.dumps)
        self.state: dict[str, Any] = {
            "awsProvider": None,
            "clusterSecurityGroupId": security_group,
            "nodeSecurityGroupId": security_group,
            "core": {
                "cluster": cluster,
                "vpcId": inputs.get("vpcId"),
                "subnetIds": inputs.get("subnetIds") or inputs.get("privateSubnetIds"),
                "endpoint": cluster.endpoint,
                "provider": provider,
                "instanceRoles": [],
                "nodeGroupOptions": {},
                "kubeconfig": kubeconfig,
            },
            "defaultNodeGroupAsgName": "",
            "eksCluster": cluster,
            "fargateProfileId": "",
            "fargateProfileStatus": "",
            "instanceRoles": [],
            "kubeconfig": kubeconfig,
            "kubeconfigJson": self.kubeconfig_json,
            "oidcIssuer": issuer.apply(lambda url: url.removeprefix("https://")),
            "oidcProviderArn": oidc.arn if oidc else "",
            "oidcProviderUrl": issuer,
        }
        self.state = {key: value for key, value in self.state.items() if value is not None}
        self.register_outputs(self.state)

    @staticmethod
    def _role(name: str, inputs: Mapping[str, Any], child: pulumi.ResourceOptions) -> tuple[Any, list[Any]]:
        """cluster.ts, "Create the EKS service role": only where none is given."""
        given = inputs.get("serviceRole")
        if given is not None:
            return pulumi.Output.from_input(given).apply(lambda role: role.arn), []
        made = _ServiceRole(f"{name}-eksRole", inputs.get("tags"), child)
        return made.role.arn, [made.role, made.attachment]

    def _access_entry(self, name: str, entry: Mapping[str, Any], cluster: aws.eks.Cluster) -> None:
        """authenticationMode.ts, createAccessEntries: an entry, and an association for each of its policies."""
        made = aws.eks.AccessEntry(
            name,
            cluster_name=cluster.name,
            principal_arn=entry["principalArn"],
            kubernetes_groups=entry.get("kubernetesGroups"),
            type=entry.get("type"),
            user_name=entry.get("username"),
            tags=entry.get("tags"),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[cluster]),
        )
        for key, association in (entry.get("accessPolicies") or {}).items():
            aws.eks.AccessPolicyAssociation(
                f"{name}-{key}",
                cluster_name=cluster.name,
                principal_arn=entry["principalArn"],
                policy_arn=association["policyArn"],
                access_scope=association["accessScope"],
                opts=pulumi.ResourceOptions(parent=made, depends_on=[made]),
            )

    @staticmethod
    def _oidc_provider(
        name: str, cluster: aws.eks.Cluster, child: pulumi.ResourceOptions
    ) -> aws.iam.OpenIdConnectProvider:
        """cluster.ts, "Setup OIDC provider"."""
        return aws.iam.OpenIdConnectProvider(
            f"{name}-oidcProvider",
            client_id_lists=["sts.amazonaws.com"],
            url=cluster.identities.apply(lambda identities: identities[0].oidcs[0].issuer),
            opts=child,
        )


def _cluster_arguments(name: str, inputs: Mapping[str, Any], role_arn: Any) -> dict[str, Any]:
    """cluster.ts, "Create the EKS cluster"."""
    network = None
    if inputs.get("kubernetesServiceIpAddressRange") or inputs.get("ipFamily"):
        network = {
            "serviceIpv4Cidr": inputs.get("kubernetesServiceIpAddressRange"),
            "ipFamily": inputs.get("ipFamily") or "ipv4",
        }
    subnets = inputs.get("subnetIds")
    if subnets is None:
        subnets = pulumi.Output.all(inputs.get("publicSubnetIds") or [], inputs.get("privateSubnetIds") or []).apply(
            lambda pair: [*pair[0], *pair[1]]
        )
    key_arn = inputs.get("encryptionConfigKeyArn")
    tags = pulumi.Output.all(inputs.get("clusterTags") or {}, inputs.get("tags") or {}).apply(
        lambda pair: {"Name": f"{name}-eksCluster", **pair[0], **pair[1]}
    )
    arguments = {
        "name": inputs.get("name"),
        "role_arn": role_arn,
        "kubernetes_network_config": network,
        "bootstrap_self_managed_addons": inputs.get("bootstrapSelfManagedAddons", True),
        "vpc_config": {
            "subnetIds": subnets,
            "endpointPrivateAccess": inputs.get("endpointPrivateAccess"),
            "endpointPublicAccess": inputs.get("endpointPublicAccess"),
            "publicAccessCidrs": inputs.get("publicAccessCidrs"),
        },
        "version": inputs.get("version"),
        "enabled_cluster_log_types": inputs.get("enabledClusterLogTypes"),
        "tags": tags,
        "encryption_config": {"provider": {"keyArn": key_arn}, "resources": ["secrets"]} if key_arn else None,
        "access_config": {
            "authenticationMode": inputs["authenticationMode"],
            "bootstrapClusterCreatorAdminPermissions": True,
        },
        "upgrade_policy": inputs.get("upgradePolicy"),
        "deletion_protection": inputs.get("deletionProtection"),
    }
    return {key: value for key, value in arguments.items() if value is not None}


def _refuse_what_is_not_played(inputs: Mapping[str, Any]) -> None:
    """Name every option that would lead to a child that isn't played here."""
    problems = [f"{name} is not played" for name in sorted(set(inputs) - PLAYED)]
    if inputs.get("authenticationMode") != "API":
        problems.append("authenticationMode must be API (without it the component writes the aws-auth ConfigMap)")
    if inputs.get("skipDefaultNodeGroup") is not True:
        problems.append("skipDefaultNodeGroup must be true")
    if inputs.get("skipDefaultSecurityGroups") is not True:
        problems.append("skipDefaultSecurityGroups must be true")
    if inputs.get("useDefaultVpcCni") is not True:
        problems.append("useDefaultVpcCni must be true: the component would make the add-on vpc-cni itself")
    for add_on in ("kubeProxy", "coredns"):
        options = inputs.get(f"{add_on}AddonOptions") or {}
        # coredns is only made beside a default node group, which is refused above, or where it is asked for.
        if options.get("enabled", add_on == "kubeProxy") is not False:
            problems.append(f"{add_on}AddonOptions.enabled must be false: the component would make the add-on itself")
    if problems:
        raise pulumi.RunError(f"The sandbox's stand-in for pulumi_eks.Cluster can't play this: {'; '.join(problems)}.")


def sandbox_kubeconfig(folder: StateFolder, endpoint: str) -> dict[str, Any]:
    """A kubeconfig of the sandbox's administrator that names files, so that no key enters the Pulumi state."""
    certificates: Path = folder.certificates
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [
            {
                "name": CONTEXT,
                "cluster": {
                    "server": endpoint,
                    "certificate-authority": str(certificate_file(certificates, "cluster-authority")),
                },
            }
        ],
        "users": [
            {
                "name": "administrator",
                "user": {
                    "client-certificate": str(certificate_file(certificates, "administrator")),
                    "client-key": str(key_file(certificates, "administrator")),
                },
            }
        ],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": "administrator"}}],
    }


def eks_servicer(folder: StateFolder, engine_address: str) -> ProviderServicer:
    """The SDK's server for component providers, around the stand-in."""
    return ProviderServicer(EksStandIn(folder), args=[], engine_address=engine_address)
