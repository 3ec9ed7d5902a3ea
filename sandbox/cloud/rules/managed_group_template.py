"""What a managed node group's template may not hold, and what may not be said in both (facts/aws.md 2.1 and 7 #6).

Source: botocore's text on ``LaunchTemplateSpecification``; EKS user guide "Customize managed nodes".
"""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.errors import AwsError
from sandbox.cloud.templates import template_of
from sandbox.cloud.values import Plain

_FORBIDDEN = {
    # AWS's words.
    "iamInstanceProfile": "Launch template should not specify an instance profile. The noderole in your request will "
    "be used to construct an instance profile.",
    "hibernationOptions": "Launch template should not specify hibernation options.",
}


def check_group(group: Mapping[str, Plain]) -> None:
    """Raise AwsError where the group itself says what belongs into its template."""
    if group.get("launchTemplate") is None:
        return
    if group.get("diskSize"):
        # AWS's words.
        raise AwsError("InvalidParameterException", "Disk size must be specified within the launch template.")
    if group.get("remoteAccess"):
        # AWS's words.
        raise AwsError(
            "InvalidParameterException", "Remote access configuration cannot be specified with a launch template."
        )


def check(group: Mapping[str, Plain], account: Account, _: Resource | None) -> None:
    """Raise AwsError where the template holds what EKS refuses."""
    template = template_of(group, account)
    if template is None:
        return
    for name, sentence in _FORBIDDEN.items():
        if template.get(name):
            raise AwsError("InvalidRequestException", sentence)
    if any(interface.get("subnetId") for interface in template.get("networkInterfaces") or ()):
        raise AwsError(
            "InvalidRequestException",
            "Launch template should not specify a subnet in its network interfaces: the node group's subnet_ids do.",
        )
    if template.get("instanceType") and group.get("instanceTypes"):
        raise AwsError(
            "InvalidRequestException",
            "Instance types can't be specified both in the launch template and in the node group: leave "
            "instance_types out of the group.",
        )
    if template.get("imageId") and (group.get("amiType") or group.get("releaseVersion")):
        raise AwsError(
            "InvalidRequestException",
            "With an image id in the launch template the node group can have no ami_type and no release_version.",
        )
