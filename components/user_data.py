"""User data of GPU nodes: what the kubelet and the disks need to know, in the words of each operating system.

EKS adds the cluster's name, endpoint and CA by itself where the launch template names no image. Text out; a launch
template takes it in base64.
"""

from __future__ import annotations

import base64
from typing import Final

from catalog.instance_types import InstanceType

BOUNDARY: Final = "gpu-inference"
# One interface of card 0 is EFA-only and gives pods no address; nodeadm doesn't know (facts/aws.md 2.1).
MAX_PODS_EXPRESSION: Final = "((default_enis - 1) * (ips_per_eni - 1)) + 2"
# EKS user guide, "Choosing an instance type": a managed group allows no more pods, by the type's vCPUs.
MOST_PODS: Final = 110
MOST_PODS_LARGE: Final = 250
LARGE_VCPUS: Final = 30
# Bottlerocket sets no huge pages aside, which EFA's driver wants (facts/aws.md 2.4).
BOTTLEROCKET_HUGE_PAGES: Final = 3000


def takes_a_pod_interface(instance: InstanceType) -> bool:
    """Whether an EFA-only interface sits on card 0, where the VPC CNI would look for addresses."""
    return instance.efa_interfaces > 0 and instance.efa_on_card_zero


def maximum_pods(instance: InstanceType) -> int:
    """``MAX_PODS_EXPRESSION`` for a type: 51 on p5.48xlarge; never above what EKS advises for its vCPUs."""
    interfaces = instance.enis_on_card_zero - (1 if takes_a_pod_interface(instance) else 0)
    advised = MOST_PODS_LARGE if instance.vcpus >= LARGE_VCPUS else MOST_PODS
    return min(interfaces * (instance.ips_per_eni - 1) + 2, advised)


def nodeadm_user_data(instance: InstanceType) -> str:
    """MIME text for AL2023: a NodeConfig of nodeadm with RAID0 of the local disks and the pod limit.

    RAID0 carries the kubelet, containerd and pod logs (30 TB on p5.48xlarge): images of 15 to 30 GB and caches fit.
    """
    lines = ["apiVersion: node.eks.aws/v1alpha1", "kind: NodeConfig", "spec:"]
    if instance.local_nvme_gb:
        lines += ["  instance:", "    localStorage:", "      strategy: RAID0"]
    if takes_a_pod_interface(instance):
        lines += ["  kubelet:", f'    maxPodsExpression: "{MAX_PODS_EXPRESSION}"']
    if len(lines) == 3:
        lines[-1] = "spec: {}"
    head = [
        "MIME-Version: 1.0",
        f'Content-Type: multipart/mixed; boundary="{BOUNDARY}"',
        "",
        f"--{BOUNDARY}",
        "Content-Type: application/node.eks.aws",
        "",
    ]
    return "\n".join([*head, *lines, f"--{BOUNDARY}--", ""])


def bottlerocket_user_data(instance: InstanceType) -> str:
    """TOML for Bottlerocket: the local disks as one array under containerd, kubelet and logs, huge pages, pod limit."""
    lines = []
    if instance.local_nvme_gb:
        lines += [
            "[settings.bootstrap-commands.local-disks]",
            'commands = [["apiclient", "ephemeral-storage", "init"], ["apiclient", "ephemeral-storage", "bind", '
            '"--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"]]',
            'mode = "always"',
            "essential = true",
        ]
    if instance.efa_interfaces:
        lines += ["[settings.kernel.sysctl]", f'"vm.nr_hugepages" = "{BOTTLEROCKET_HUGE_PAGES}"']
    lines += ["[settings.kubernetes]", f"max-pods = {maximum_pods(instance)}"]
    return "\n".join([*lines, ""])


def encoded(text: str) -> str:
    """As a launch template wants it."""
    return base64.b64encode(text.encode()).decode()
