"""Kubernetes Secrets that External Secrets keeps equal to some in AWS Secrets Manager. No value passes through here.

Inputs: the stack's ``external_secrets``, namespace, cluster, region. Outputs: ``secrets``, what servers depend on.
Creates: an IAM role that may read these secrets and no other, its Pod Identity association with the operator's service
account, a SecretStore, an ExternalSecret each. The operator and its CRDs must be in the cluster (its own chart).
Replacement: a Secret's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from pydantic import Field

from components import iam_documents
from components.arguments import Args, ObjectName
from components.aws_arguments import SecretArn
from components.labels import object_labels

TYPE: Final = "gpu-inference:index:ExternalSecrets"
STORE_NAME: Final = "aws-secrets-manager"
# Namespace and service account of the External Secrets chart.
OPERATOR: Final = ("external-secrets", "external-secrets")
_API_VERSION: Final = "external-secrets.io/v1"


class ExternalSecretArgs(Args):
    """One entry of the stack's ``external_secrets``: a reference, never a value."""

    name: ObjectName
    """The Kubernetes Secret that it becomes; what ``hugging_face_token.name`` names."""
    key: str = "token"
    secret_arn: SecretArn
    property: str | None = None
    """The field, where the secret in Secrets Manager is JSON; None: all of it."""
    refresh_minutes: Annotated[int, Field(ge=1, le=24 * 60)] = 60


def reader_policy(secrets: Sequence[ExternalSecretArgs]) -> dict[str, Any]:
    """What the operator may read: these secrets, nothing else."""
    actions = ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"]
    return iam_documents.allow(actions, sorted({secret.secret_arn for secret in secrets}))


def secret_store_body(namespace: str, region: str) -> dict[str, Any]:
    """The SecretStore object: Secrets Manager, with the operator's own identity."""
    return {
        "metadata": {"name": STORE_NAME, "namespace": namespace, "labels": object_labels(STORE_NAME, "secrets")},
        "spec": {"provider": {"aws": {"service": "SecretsManager", "region": region}}},
    }


def external_secret_body(args: ExternalSecretArgs, namespace: str) -> dict[str, Any]:
    """The ExternalSecret object."""
    remote = {"key": args.secret_arn, **({"property": args.property} if args.property else {})}
    return {
        "metadata": {"name": args.name, "namespace": namespace, "labels": object_labels(args.name, "secrets")},
        "spec": {
            "refreshInterval": f"{args.refresh_minutes}m",
            "secretStoreRef": {"kind": "SecretStore", "name": STORE_NAME},
            "target": {"name": args.name, "creationPolicy": "Owner"},
            "data": [{"secretKey": args.key, "remoteRef": remote}],
        },
    }


class ExternalSecrets(pulumi.ComponentResource):
    """See the module's text."""

    secrets: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        args: Sequence[ExternalSecretArgs],
        *,
        namespace: str,
        cluster_name: pulumi.Input[str],
        region: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, {"secrets": [entry.name for entry in args]}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            name, assume_role_policy=iam_documents.as_text(iam_documents.pod_identity_trust()), opts=child
        )
        rights = aws.iam.RolePolicy(name, role=role.id, policy=iam_documents.as_text(reader_policy(args)), opts=child)
        operator_namespace, service_account = OPERATOR
        identity = aws.eks.PodIdentityAssociation(
            name,
            cluster_name=cluster_name,
            namespace=operator_namespace,
            service_account=service_account,
            role_arn=role.arn,
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[rights])),
        )
        store_body = secret_store_body(namespace, region)
        store = self._object(f"{name}-store", "SecretStore", store_body, [identity])
        self.secrets = [
            self._object(f"{name}-{entry.name}", "ExternalSecret", external_secret_body(entry, namespace), [store])
            for entry in args
        ]
        self.register_outputs({})

    def _object(self, name: str, kind: str, body: dict[str, Any], depends_on: list[pulumi.Resource]) -> pulumi.Resource:
        return kubernetes.apiextensions.CustomResource(
            name,
            api_version=_API_VERSION,
            kind=kind,
            metadata=body["metadata"],
            spec=body["spec"],
            opts=pulumi.ResourceOptions(parent=self, depends_on=depends_on),
        )
