"""GPU nodes need room for serving images: a sized root volume, or nodeadm's array of the local NVMe disks."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.instances import has_gpu
from policies.aws.launch_templates import LAUNCH_TEMPLATE, instance_type_of, largest_volume_gib, uses_local_nvme
from policies.aws.node_groups import (
    NODE_GROUP,
    is_gpu_group,
    launch_template,
    launch_template_reference,
    node_groups_of,
)
from policies.model import Outcome, Parameter, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import number

# EKS API: diskSize defaults to 20 GiB for Linux; the AMI's own root volume is as large.
_DEFAULT_GIB = 20.0


def check(resource: Resource, resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """Judge GPU node groups, and GPU launch templates that no managed group here uses."""
    if resource.type == NODE_GROUP:
        if not is_gpu_group(resource, resources):
            return
        template = launch_template(resource, resources)
        if template is None and launch_template_reference(resource) is not None:
            return  # the template that sizes the disk isn't here
        own_gib = number(resource.at("diskSize"))
        path: Path = ("diskSize",) if template is None else ("launchTemplate",)
    else:
        name = instance_type_of(resource)
        if name is None or not has_gpu(name) or any(node_groups_of(resource, resources)):
            return
        template, own_gib, path = resource, None, ("blockDeviceMappings",)
    sizes = [size for size in (own_gib, largest_volume_gib(template) if template else None) if size is not None]
    size_gib = max(sizes, default=None)
    yield from _judge(size_gib, template, path, parameters)


def _judge(size_gib: float | None, template: Resource | None, path: Path, parameters: Parameters) -> Iterator[Outcome]:
    floor, roomy = float(parameters["minimum_gib"]), float(parameters["advised_gib"])
    if size_gib is not None and size_gib >= roomy:
        return
    if template and uses_local_nvme(template):
        return
    what = (
        f"the root volume has {size_gib:g} GiB"
        if size_gib is not None
        else f"no size is set, so it has {_DEFAULT_GIB:g} GiB"
    )
    where = "ebs.volumeSize in the launch template" if template else "diskSize"
    report = violation if (size_gib or _DEFAULT_GIB) < floor else advice
    yield report(
        f"{what}; a serving image takes 15 to 30 GB and pods are evicted when it fills: set {where} to {roomy:g} GiB "
        "or more, or let nodeadm use the local NVMe disks (localStorage.strategy RAID0)",
        *path,
    )


RULE = Rule(
    name="gpu-node-root-volume",
    title="GPU nodes have room for images",
    source="deepseek-using-vllm-on-eks #11; terraform-aws-eks #1739; facts/aws.md section 7, 24",
    fix="Size the root volume of GPU nodes, or put images on local NVMe with localStorage.strategy RAID0.",
    applies_to=(NODE_GROUP, LAUNCH_TEMPLATE),
    check=check,
    scope="set",
    parameters={
        "minimum_gib": Parameter(100, "number", "Below this many GiB a GPU node's root volume is a violation."),
        "advised_gib": Parameter(200, "number", "Below this many GiB it is advice."),
    },
)
