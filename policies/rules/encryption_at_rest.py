"""Disks, file systems and the cluster's data must be encrypted: weights under licence, prompts in logs, Secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.aws.launch_templates import LAUNCH_TEMPLATE
from policies.model import Outcome, Parameters, Path, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import mapping, mappings, text

_VOLUME = "aws:ebs/volume:Volume"
_EFS = "aws:efs/fileSystem:FileSystem"
_CLUSTER = "aws:eks/cluster:Cluster"
_STORAGE_CLASS = "StorageClass.storage.k8s.io"


def _judge_ebs(encrypted: Any, what: str, setting: str, path: Path) -> Iterator[Outcome]:
    """EBS encrypts by account default where nothing is said; said otherwise, it does not."""
    value = text(encrypted)
    if value == "true":
        return
    if value:
        yield violation(f"{what} is not encrypted: set {setting} to true", *path)
    else:
        yield advice(f"{what} is encrypted only where the account's default says so: set {setting} to true", *path)


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge launch templates, EBS volumes and storage classes, EFS file systems, and the cluster."""
    if resource.type == LAUNCH_TEMPLATE:
        for index, device in enumerate(mappings(resource.at("blockDeviceMappings"))):
            if "ebs" in device:
                name = text(device.get("deviceName")) or f"number {index}"
                path: Path = ("blockDeviceMappings", index)
                yield from _judge_ebs(
                    mapping(device["ebs"]).get("encrypted"), f"the volume {name}", "ebs.encrypted", path
                )
    elif resource.type == _VOLUME:
        yield from _judge_ebs(resource.at("encrypted"), "the volume", "encrypted", ("encrypted",))
    elif resource.group_kind == _STORAGE_CLASS:
        if text(resource.at("provisioner")) in {"ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com"}:
            value = resource.at("parameters", "encrypted")
            yield from _judge_ebs(value, "each volume of this class", "parameters.encrypted", ("parameters",))
    elif resource.type == _EFS:
        if text(resource.at("encrypted")) != "true" and not text(resource.at("kmsKeyId")):
            yield violation("the file system is not encrypted, and can't be later: set encrypted to true", "encrypted")
    elif not resource.at("encryptionConfig"):
        yield advice(
            "the cluster's data is encrypted with a key that AWS owns: set encryptionConfig to a KMS key of yours, to "
            "be able to audit and revoke it",
            "encryptionConfig",
        )


RULE = Rule(
    name="encryption-at-rest",
    title="Volumes, file systems and cluster data are encrypted",
    source="EBS user guide, Encryption by default; EKS API, EncryptionConfig; facts/aws.md section 0, 7 and 9.1",
    fix="Switch encryption on where the volume or file system is declared.",
    applies_to=(LAUNCH_TEMPLATE, _VOLUME, _EFS, _CLUSTER, _STORAGE_CLASS),
    check=check,
)
