"""The GPU operator must not install what the node's image already brings: driver and container toolkit."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.node_groups import NODE_GROUP, ami_type, is_gpu_group
from policies.helm import HELM_KINDS, helm_install
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import mapping, text

# EKS user guide, accelerated AMIs: the parts of the operator's work that an AMI type has done (facts/aws.md 3.2), each
# with the node label that keeps the operator's part off a node.
_DRIVER, _TOOLKIT, _DEVICE_PLUGIN = "driver", "toolkit", "devicePlugin"
_NODE_LABELS = {
    _DRIVER: "nvidia.com/gpu.deploy.driver",
    _TOOLKIT: "nvidia.com/gpu.deploy.container-toolkit",
    _DEVICE_PLUGIN: "nvidia.com/gpu.deploy.device-plugin",
}


def _parts_in_image(ami: str) -> tuple[str, ...]:
    if ami.startswith("BOTTLEROCKET") and "NVIDIA" in ami:
        return (_DRIVER, _TOOLKIT, _DEVICE_PLUGIN)
    if (ami.startswith("AL2023") and "NVIDIA" in ami) or ami == "AL2_x86_64_GPU":
        return (_DRIVER, _TOOLKIT)
    return ()


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge installs of the operator's chart against the GPU node groups at hand."""
    install = helm_install(resource)
    if install is None or install.chart != "gpu-operator":
        return
    clashes: dict[str, str] = {}
    for group in resources.of(NODE_GROUP):
        ami = ami_type(group)
        if ami is None or not is_gpu_group(group, resources):
            continue
        labels = mapping(group.at("labels"))
        for part in _parts_in_image(ami):
            if (
                text(labels.get(_NODE_LABELS[part])) != "false"
                and part not in clashes
                and install.is_on(part, "enabled", default=True)
            ):
                clashes[part] = f"{ami} of the node group {group.name!r}"
    if clashes:
        off = " and ".join(f"{part}.enabled" for part in clashes)
        yield violation(
            f"{off} {'is' if len(clashes) == 1 else 'are'} on (the chart's default), and "
            f"{next(iter(clashes.values()))} already brings {'it' if len(clashes) == 1 else 'them'}: set {off} to "
            "false",
            *install.values_path,
        )


RULE = Rule(
    name="gpu-operator-vs-ami",
    title="The GPU operator leaves to the AMI what the AMI brings",
    source="gpu-operator #666, #686; comfyui-on-eks #26; EKS user guide, accelerated AMIs",
    fix="Set driver.enabled and toolkit.enabled to false (on Bottlerocket devicePlugin.enabled too).",
    applies_to=HELM_KINDS,
    check=check,
    scope="set",
)
