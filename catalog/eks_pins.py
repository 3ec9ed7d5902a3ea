"""What an EKS cluster of ours is made of: Kubernetes version, add-on versions, AMI release, one place each.

The numbers are in ``data/pins.yaml``, each with where it was seen.
"""

from __future__ import annotations

import datetime
from functools import cache
from typing import Literal

from catalog.facts import Fact, load_yaml, unknown


class EksPins(Fact):
    """The versions of one release of this program."""

    kubernetes_version: str
    """Minor version, such as ``1.36``; the sandbox's control plane has the same."""
    end_of_standard_support: datetime.date
    """From this day on EKS upgrades a cluster with upgrade policy STANDARD by itself, or charges for EXTENDED."""
    upgrade_policy: Literal["STANDARD", "EXTENDED"]
    al2023_release: str
    """Release version of the AL2023 AMIs (NVIDIA and standard) for managed node groups."""
    add_ons: dict[str, str]

    def add_on(self, name: str) -> str:
        """The version of an EKS add-on.

        Raises:
            UnknownFactError: no version of it is pinned.
        """
        try:
            return self.add_ons[name]
        except KeyError:
            raise unknown("EKS add-on", name, self.add_ons) from None


@cache
def eks_pins() -> EksPins:
    """The pins of this release."""
    document = load_yaml("pins.yaml")
    return EksPins.model_validate({"kubernetes_version": document["kubernetes"]["version"], **document["eks"]})


def tool_image(name: str) -> str:
    """The image of a small tool, such as ``busybox``, that a Job of ours runs.

    Raises:
        UnknownFactError: no such image is pinned.
    """
    images: dict[str, str] = load_yaml("pins.yaml")["images"]
    try:
        return images[name]
    except KeyError:
        raise unknown("tool image", name, images) from None
