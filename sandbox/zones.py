"""Regions and availability zones of the sandbox's imaginary account, where az1 is always called a."""

from __future__ import annotations

REGIONS = {
    "apne1": "ap-northeast-1",
    "apne2": "ap-northeast-2",
    "aps1": "ap-south-1",
    "apse1": "ap-southeast-1",
    "apse2": "ap-southeast-2",
    "cac1": "ca-central-1",
    "euc1": "eu-central-1",
    "eun1": "eu-north-1",
    "euw1": "eu-west-1",
    "euw2": "eu-west-2",
    "sae1": "sa-east-1",
    "use1": "us-east-1",
    "use2": "us-east-2",
    "usw1": "us-west-1",
    "usw2": "us-west-2",
}
"""AWS region by the prefix of its availability zone ids."""
_ZONE_COUNTS = {"us-east-1": 6, "us-west-2": 4, "ap-northeast-2": 4}
_DEFAULT_ZONE_COUNT = 3


def region(zone_id: str) -> str:
    """The region of a zone id: ``use1-az1`` is in ``us-east-1``."""
    return REGIONS[zone_id.partition("-")[0]]


def zone_name(zone_id: str) -> str:
    """A zone's name in the imaginary account: ``use1-az1`` is ``us-east-1a``."""
    return region(zone_id) + chr(ord("a") + int(zone_id[-1]) - 1)


def zone_id(name: str) -> str:
    """A zone's id by its name in the imaginary account: ``us-east-1a`` is ``use1-az1``.

    Raises:
        ValueError: no known region has such a zone.
    """
    for prefix, known in REGIONS.items():
        if name[:-1] == known and "a" <= name[-1:] <= "f":
            return f"{prefix}-az{ord(name[-1]) - ord('a') + 1}"
    raise ValueError(f"there is no availability zone {name!r}")


def zone_ids(region_name: str) -> list[str]:
    """The zone ids of a region: ``use1-az1`` and so on.

    Raises:
        ValueError: no such region is known here.
    """
    prefix = next((prefix for prefix, known in REGIONS.items() if known == region_name), None)
    if prefix is None:
        raise ValueError(f"unknown region {region_name!r}; known: {', '.join(sorted(REGIONS.values()))}")
    return [f"{prefix}-az{number}" for number in range(1, _ZONE_COUNTS.get(region_name, _DEFAULT_ZONE_COUNT) + 1)]
