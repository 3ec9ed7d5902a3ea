"""What a launch template decides must not stand on its node group too.

Some fields the template of a managed group can't have at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.launch_templates import instance_type_of, market_type
from policies.aws.node_groups import NODE_GROUP, ami_type, launch_template, launch_template_reference
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import is_unknown, number, sequence, text

# EKS API: refused in the template of a managed node group. Each with what to do instead.
_FORBIDDEN_IN_TEMPLATE = {
    "iamInstanceProfile": "remove it; the group's nodeRoleArn gives the nodes their role",
    "hibernationOptions": "remove it",
}


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge groups that have a launch template."""
    if launch_template_reference(resource) is None:
        return
    disk = resource.at("diskSize")
    if is_unknown(disk) or number(disk):  # a state says 0 where there is none
        yield violation(
            "diskSize stands beside a launch template, and EKS refuses (or a tool drops) it: size the root volume in "
            "the template's blockDeviceMappings",
            "diskSize",
        )
    if resource.at("remoteAccess") is not None:
        yield violation(
            "remoteAccess stands beside a launch template, and EKS refuses it: put key name and security groups into "
            "the template",
            "remoteAccess",
        )
    template = launch_template(resource, resources)
    if template is None:
        return
    image = template.at("imageId")
    has_image = is_unknown(image) or bool(text(image))
    template_type = instance_type_of(template)
    if sequence(resource.at("instanceTypes")) and template_type:
        yield violation(
            f"instanceTypes stands on the group and instanceType ({template_type}) in its launch template: keep one "
            "of them",
            "instanceTypes",
        )
    if has_image and ami_type(resource) not in (None, "CUSTOM"):
        yield violation(
            f"the launch template {template.name!r} names an image, so EKS refuses amiType {ami_type(resource)}: "
            "remove one",
            "amiType",
        )
    release = text(resource.at("releaseVersion")) if has_image else None
    if release and not release.startswith("ami-"):  # a state repeats the image's id
        yield violation(
            f"the launch template {template.name!r} names an image, so EKS refuses releaseVersion: remove one",
            "releaseVersion",
        )
    for key, remedy in _FORBIDDEN_IN_TEMPLATE.items():
        if template.at(key):
            yield violation(
                f"the launch template {template.name!r} states {key}, which EKS refuses: {remedy}", "launchTemplate"
            )
    if market_type(template) == "spot":
        yield violation(
            f"the launch template {template.name!r} asks for spot, which EKS refuses: set capacityType SPOT on the "
            "group instead",
            "launchTemplate",
        )


RULE = Rule(
    name="nodegroup-vs-template-fields",
    title="A node group and its launch template state each thing once",
    source="pulumi-eks #1228, #1224; terraform-aws-eks #2441; EKS API, LaunchTemplateSpecification",
    fix="Keep disk, instance type, image and remote access in one place: in the template where there is one.",
    applies_to=(NODE_GROUP,),
    check=check,
    scope="set",
)
