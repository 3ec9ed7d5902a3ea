"""GPU nodes need room for serving images: a sized root volume, or nodeadm's array of the local NVMe disks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from policies import karpenter
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


@dataclass(frozen=True)
class _Disk:
    """What is known of a node's disk: its size (None: the default), where that is set, and whether images go elsewhere.

    The last is a function, since user data that isn't known yet need not be known where the volume is large.
    """

    size_gib: float | None
    setting: str
    path: Path
    uses_local_nvme: Callable[[], bool] = lambda: False


def check(resource: Resource, resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """Judge GPU node groups, GPU launch templates outside of managed groups, and classes of Karpenter's GPU pools."""
    if resource.type == NODE_GROUP:
        disk = _of_group(resource, resources)
    elif resource.type == LAUNCH_TEMPLATE:
        name = instance_type_of(resource)
        is_its_own = name is not None and has_gpu(name) and not any(node_groups_of(resource, resources))
        disk = _of_template(resource, ("blockDeviceMappings",)) if is_its_own else None
    else:
        pools = list(karpenter.pools_of(resource, resources))
        is_for_gpus = any(karpenter.always_has_gpus(pool) or karpenter.gpu_taints(pool) for pool in pools)
        disk = _of_class(resource) if is_for_gpus else None
    if disk:
        yield from _judge(disk, float(parameters["minimum_gib"]), float(parameters["advised_gib"]))


def _of_group(group: Resource, resources: ResourceSet) -> _Disk | None:
    if not is_gpu_group(group, resources):
        return None
    template = launch_template(group, resources)
    own_gib = number(group.at("diskSize")) or None
    if template is None:
        # A template from elsewhere sizes the disk where nobody here can see it.
        elsewhere = launch_template_reference(group) is not None
        return None if elsewhere else _Disk(own_gib, "diskSize", ("diskSize",))
    disk = _of_template(template, ("launchTemplate",))
    # EKS refuses a size beside a template; nodegroup-vs-template-fields says so, and the intent counts here.
    return replace(disk, size_gib=own_gib) if disk.size_gib is None else disk


def _of_template(template: Resource, path: Path) -> _Disk:
    setting = "ebs.volumeSize in the launch template"
    return _Disk(largest_volume_gib(template), setting, path, partial(uses_local_nvme, template))


def _of_class(node_class: Resource) -> _Disk:
    path: Path = ("spec", "blockDeviceMappings")
    size_gib = karpenter.largest_volume_gib(node_class)
    return _Disk(size_gib, "ebs.volumeSize", path, partial(karpenter.uses_local_nvme, node_class))


def _judge(disk: _Disk, floor_gib: float, roomy_gib: float) -> Iterator[Outcome]:
    if (disk.size_gib is not None and disk.size_gib >= roomy_gib) or disk.uses_local_nvme():
        return
    what = (
        f"no size is set, so it has {_DEFAULT_GIB:g} GiB"
        if disk.size_gib is None
        else f"the root volume has {disk.size_gib:g} GiB"
    )
    report = violation if (disk.size_gib or _DEFAULT_GIB) < floor_gib else advice
    yield report(
        f"{what}; a serving image takes 15 to 30 GB and pods are evicted when it fills: set {disk.setting} to "
        f"{roomy_gib:g} GiB or more, or put images on the local NVMe disks (RAID0)",
        *disk.path,
    )


RULE = Rule(
    name="gpu-node-root-volume",
    title="GPU nodes have room for images",
    source="deepseek-using-vllm-on-eks #11; terraform-aws-eks #1739; facts/aws.md section 7, 24",
    fix="Size the root volume of GPU nodes, or put images on local NVMe with localStorage.strategy RAID0.",
    applies_to=(NODE_GROUP, LAUNCH_TEMPLATE, karpenter.NODE_CLASS),
    check=check,
    scope="set",
    parameters={
        "minimum_gib": Parameter(100, "number", "Below this many GiB a GPU node's root volume is a violation."),
        "advised_gib": Parameter(200, "number", "Below this many GiB it is advice."),
    },
)
