"""The IAM role of every node: join the cluster, pull images. What pods may do comes by Pod Identity, not from here.

Outputs: ``arn``; ``rights``, to depend on. Creates: a role and its policy attachments. Replacement: never in use.
"""

from __future__ import annotations

from typing import Final

import pulumi
import pulumi_aws as aws

from components import iam_documents
from components.aws_arguments import partition

TYPE: Final = "gpu-inference:index:NodeRole"
# The last one opens a shell for people through Systems Manager, instead of SSH keys and ports.
POLICIES: Final = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore")


class NodeRole(pulumi.ComponentResource):
    """See the module's text."""

    arn: pulumi.Output[str]
    rights: list[pulumi.Resource]

    def __init__(self, name: str, *, region: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        trust = iam_documents.as_text(iam_documents.service_trust("ec2.amazonaws.com"))
        role = aws.iam.Role(name, assume_role_policy=trust, opts=child)
        self.rights = [
            aws.iam.RolePolicyAttachment(
                f"{name}-{policy}",
                role=role.name,
                policy_arn=iam_documents.managed_policy(partition(region), policy),
                opts=child,
            )
            for policy in POLICIES
        ]
        self.arn = role.arn
        self.register_outputs({"arn": self.arn})
