"""gpu-node-root-volume: room for images on GPU nodes."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.policies.builders import (
    LAUNCH_TEMPLATE,
    NODE_GROUP,
    UNKNOWN,
    Object,
    judge,
    launch_template,
    manifest,
    node_group,
)

RULE = "gpu-node-root-volume"


def volumes(*sizes_gib: Any) -> list[Object]:
    return [
        {"deviceName": f"/dev/xvd{letter}", "ebs": {"volumeSize": size}}
        for letter, size in zip("abc", sizes_gib, strict=False)
    ]


def user_data(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


RAID0 = user_data(
    "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  instance:\n    localStorage:\n      strategy: "
    "RAID0\n"
)


def without_template(**properties: Any) -> Object:
    return node_group(template=None, instanceTypes=["g6e.4xlarge"], **properties)


@pytest.mark.parametrize(
    ("size", "verdict"), [(None, "violation"), (20, "violation"), ("99", "violation"), (150, "advice"), (200.0, None)]
)
def test_the_groups_own_disk(size: Any, verdict: str | None) -> None:
    assert judge(RULE, without_template(diskSize=size)) == ([f"{verdict} {NODE_GROUP}"] if verdict else [])


@pytest.mark.parametrize(
    ("properties", "verdict"),
    [
        ({"blockDeviceMappings": None}, "violation"),
        ({"blockDeviceMappings": volumes(20)}, "violation"),
        ({"blockDeviceMappings": volumes(20), "userData": RAID0}, None),
        (
            {
                "blockDeviceMappings": None,
                "userData": user_data("[settings.bootstrap-commands] apiclient ephemeral-storage init"),
            },
            None,
        ),
        ({"blockDeviceMappings": None, "userData": user_data("echo hello")}, "violation"),
        ({"blockDeviceMappings": None, "userData": "localStorage:\n  strategy: RAID0\n"}, None),  # not encoded
        ({"blockDeviceMappings": None, "userData": user_data("localStorage:\n  strategy: Mount\n")}, "violation"),
        ({"blockDeviceMappings": None, "userData": user_data("bootstrap.sh main --local-disks raid0")}, None),
        (
            {
                "blockDeviceMappings": None,
                "userData": user_data('commands = [["apiclient", "ephemeral-storage", "init"]]'),
            },
            None,
        ),
        ({"blockDeviceMappings": volumes(4, 500)}, None),  # Bottlerocket: small root, large data volume
        ({"blockDeviceMappings": volumes(UNKNOWN)}, "undecided"),
        ({"blockDeviceMappings": volumes(20), "userData": UNKNOWN}, "undecided"),
        ({"blockDeviceMappings": volumes(500), "userData": UNKNOWN}, None),
    ],
)
def test_the_templates_volumes(properties: Object, verdict: str | None) -> None:
    expected = [f"{verdict} {NODE_GROUP}"] if verdict else []
    assert judge(RULE, launch_template(**properties), node_group()) == expected


def test_a_template_that_no_managed_group_uses_is_judged_itself() -> None:
    assert judge(RULE, launch_template(blockDeviceMappings=volumes(20))) == [f"violation {LAUNCH_TEMPLATE}"]


def test_cpu_groups_and_templates_from_elsewhere_are_not_its_business() -> None:
    assert judge(RULE, node_group(template=None, amiType="AL2023_x86_64_STANDARD", instanceTypes=["m7i.xlarge"])) == []
    assert judge(RULE, launch_template(instance_type="m7i.xlarge", blockDeviceMappings=None)) == []
    assert judge(RULE, node_group(template="lt-0123456789abcdef0")) == []


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        ({}, "violation"),
        ({"blockDeviceMappings": [{"ebs": {"volumeSize": "50Gi"}}]}, "violation"),
        ({"blockDeviceMappings": [{"ebs": {"volumeSize": "100Gi"}}]}, "advice"),
        ({"blockDeviceMappings": [{"ebs": {"volumeSize": "500Gi"}}]}, None),
        ({"instanceStorePolicy": "RAID0"}, None),
    ],
)
def test_karpenters_node_classes(spec: Object, verdict: str | None) -> None:
    def pool(values: list[str]) -> Object:
        requirement = {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": values}
        template = {"nodeClassRef": {"name": "gpu"}, "requirements": [requirement]}
        return manifest("karpenter.sh/v1", "NodePool", "gpu", {"template": {"spec": template}})

    node_class = manifest("karpenter.k8s.aws/v1", "EC2NodeClass", "gpu", spec)
    assert judge(RULE, node_class, pool(["g6e", "p5"])) == ([f"{verdict} EC2NodeClass/gpu"] if verdict else [])
    assert judge(RULE, node_class, pool(["m7i"])) == []
    assert judge(RULE, node_class) == []
