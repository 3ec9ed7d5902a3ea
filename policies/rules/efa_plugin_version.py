"""The EFA device plugin must be new enough for the instance types: an old one miscounts the EFA devices of P6 nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.version import Version

from policies.aws.node_groups import NODE_GROUP, instance_types
from policies.helm import HELM_KINDS, helm_install
from policies.karpenter import NODE_POOL
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import NotDecidedError, mappings, text

_PLUGIN = "aws-efa-k8s-device-plugin"
# eks-charts #1239, #1348; field-mistakes.md 10.
_OLDEST_GOOD = Version("0.5.10")
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)")


def _p6_user(resources: ResourceSet) -> str | None:
    """A node group or node pool with instances of the P6 family, as a message names it."""
    for group in resources.of(NODE_GROUP):
        try:
            types = instance_types(group, resources)
        except NotDecidedError:
            continue
        for name in types:
            if name.startswith("p6"):
                return f"the node group {group.name!r} runs {name}"
    for pool in resources.of(NODE_POOL):
        for requirement in mappings(pool.at("spec", "template", "spec", "requirements")):
            values = requirement.get("values")
            for value in values if isinstance(values, list) else ():
                if (text(value) or "").startswith("p6"):
                    return f"the node pool {pool.name!r} may run {text(value)}"
    return None


def _version(resource: Resource) -> tuple[str | None, Path] | None:
    """The plugin's version as written, and where; None where the resource is no EFA plugin."""
    if resource.kind == "DaemonSet":
        for index, container in enumerate(mappings(resource.at("spec", "template", "spec", "containers"))):
            image = text(container.get("image")) or ""
            if f"/{_PLUGIN}" in f"/{image}":
                return image.partition("@")[0].rpartition(":")[2], (
                    "spec",
                    "template",
                    "spec",
                    "containers",
                    index,
                    "image",
                )
        return None
    install = helm_install(resource)
    if install is None or install.chart != _PLUGIN:
        return None
    tag = text(install.value("image", "tag", default=""))
    return (tag, install.values_path) if tag else (install.version, ("version",))


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge the plugin's image tag where one is given, else its chart's version (both count alike)."""
    found = _version(resource)
    if found is None:
        return
    written, path = found
    match = _VERSION.match(written or "")
    if match is None or Version(match[1]) >= _OLDEST_GOOD:
        return
    user = _p6_user(resources)
    report = violation if user else advice
    why = (
        f"{user}, whose EFA devices it miscounts"
        if user
        else "it crashes on some types and miscounts the devices of P6 nodes"
    )
    yield report(f"the EFA device plugin is {written}, and {why}: take {_OLDEST_GOOD} or newer", *path)


RULE = Rule(
    name="efa-plugin-version",
    title="The EFA device plugin knows the instance types",
    source="eks-charts #1239, #1348; sagemaker-hyperpod-cli #367; terraform-aws-eks-data-addons #53",
    fix="Pin the EFA device plugin to 0.5.10 or newer.",
    applies_to=(*HELM_KINDS, "DaemonSet.apps"),
    check=check,
    scope="set",
)
