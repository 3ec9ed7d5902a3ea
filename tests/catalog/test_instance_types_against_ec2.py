"""The instance table against the EC2 DescribeInstanceTypes snapshot that moto ships (facts/aws.md section 1)."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from catalog.instance_types import InstanceType, instance_types

# (type, field) where the table differs on purpose, or moto has no such type, and why.
DELIBERATE: dict[tuple[str, str], str] = {
    ("p3.8xlarge", "*"): "moto's snapshot no longer lists it; kept because an old cluster may still run it",
}
# GPU names as EC2 writes them.
EC2_GPU_NAMES = {
    "A100-40GB": "A100",
    "A100-80GB": "A100",
    "V100-16GB": "V100",
    "V100-32GB": "V100",
    "RTX-PRO-6000": "RTX PRO Server 6000",
}
# What CUDA sees of the MiB that EC2 reports: all of it at most, and 91 % on a T4, whose error correction takes a share.
CUDA_SHARE = (0.90, 1.0)


@cache
def _ec2() -> dict[str, Any]:
    package = find_spec("moto")
    if package is None or package.origin is None:
        pytest.skip("moto is not installed (requirements for tests name it)")
    data: dict[str, Any] = json.loads(
        gzip.decompress((Path(package.origin).parent / "ec2/resources/instance_types.json.gz").read_bytes())
    )
    return data


def _network_gbps(performance: str) -> float:
    """EC2's text (``Up to 25 Gigabit``, ``4x 100 Gigabit``) in Gbit/s, all cards together."""
    words = performance.replace("Up to ", "").split()
    cards = int(words.pop(0).rstrip("x")) if words[0].endswith("x") else 1
    return cards * float(words[0])


def _ec2_facts(name: str) -> dict[str, Any]:
    row = _ec2()[name]
    network, gpus = row["NetworkInfo"], row.get("GpuInfo", {}).get("Gpus", [])
    card_zero = network["NetworkCards"][0]
    return {
        "gpus": sum(gpu["Count"] for gpu in gpus),
        "vcpus": row["VCpuInfo"]["DefaultVCpus"],
        "memory_gib": row["MemoryInfo"]["SizeInMiB"] // 1024,
        "local_nvme_gb": row.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0),
        "network_cards": network["MaximumNetworkCards"],
        "efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "enis_on_card_zero": card_zero["MaximumNetworkInterfaces"],
        "ips_per_eni": network["Ipv4AddressesPerInterface"],
        "network_gbps": _network_gbps(network["NetworkPerformance"]),
    }


@pytest.mark.parametrize("row", instance_types().values(), ids=lambda row: row.name)
def test_every_field_is_what_ec2_reports(row: InstanceType) -> None:
    if (row.name, "*") in DELIBERATE:
        assert row.name not in _ec2(), f"{row.name} is in moto again: drop it from the deliberate differences"
        return
    expected = _ec2_facts(row.name)
    differing = {
        field: (getattr(row, field), value) for field, value in expected.items() if getattr(row, field) != value
    }
    allowed = {field for name, field in DELIBERATE if name == row.name}
    assert set(differing) == allowed, differing


@pytest.mark.parametrize("row", [row for row in instance_types().values() if row.gpu], ids=lambda row: row.name)
def test_the_gpu_and_its_memory_are_ec2s(row: InstanceType) -> None:
    if (row.name, "*") in DELIBERATE:
        pytest.skip(DELIBERATE[row.name, "*"])
    assert row.gpu is not None
    assert row.gpu_model is not None
    (gpu,) = _ec2()[row.name]["GpuInfo"]["Gpus"]
    assert gpu["Name"] == EC2_GPU_NAMES.get(row.gpu, row.gpu)
    share = row.gpu_model.memory_gib / (gpu["MemoryInfo"]["SizeInMiB"] / 1024)
    assert CUDA_SHARE[0] <= share <= CUDA_SHARE[1]


def test_every_whole_gpu_inference_type_of_ec2_is_here() -> None:
    families = ("p5.", "p5e.", "p5en.", "p4d.", "p4de.", "p6-b200.", "p6-b300.", "g5.", "g6.", "g6e.", "g7e.", "g4dn.")
    missing = {name for name in _ec2() if name.startswith(families)} - set(instance_types())
    assert missing == set()


def test_only_p6_b300_has_a_card_without_efa() -> None:
    def card_zero_is_plain(row: dict[str, Any]) -> bool:
        kinds = row["NetworkInfo"]["NetworkCards"][0].get("InterfaceTypes", ["interface", "efa", "efa-only"])
        return bool(kinds == ["interface"])

    plain = {name for name, row in instance_types().items() if not row.efa_on_card_zero}
    ec2 = {
        name
        for name, row in instance_types().items()
        if name in _ec2() and row.efa_interfaces and card_zero_is_plain(_ec2()[name])
    }
    assert plain == ec2 == {"p6-b300.48xlarge"}
