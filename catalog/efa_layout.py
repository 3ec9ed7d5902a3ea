"""Which network interfaces an EFA instance needs: the (card, device, type) table of a launch template.

Source: EC2 user guide, "Maximize network bandwidth on accelerated instance types", and EKS user guide, "Manage EFA
devices" (facts/aws.md section 2.1). Three layouts launch today:

- ``ip-optimised``: one ENA interface with an address, every EFA as ``efa-only``. AWS's default advice since 2026.
- ``bandwidth-optimised``: the same, and an ENA interface more in each further group of four cards (p5 and p5e only):
  800 instead of 100 Gbit/s of IP, for eight addresses a node.
- ``legacy``: ``efa`` on card 0, device 1 on the other cards. It launches on the types of ``_LEGACY_LAUNCHES`` only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from catalog.instance_types import instance_type

EfaPolicy = Literal["ip-optimised", "bandwidth-optimised", "legacy"]
InterfaceType = Literal["interface", "efa", "efa-only"]

# EC2 user guide: an ENA interface may be added to one card of each group of four, from card 4 on.
_CARDS_OF_A_GROUP = 4
_BANDWIDTH_OPTIMISED = {"p5.48xlarge", "p5e.48xlarge"}
# facts/aws.md section 0, number 2. p6-b300 refuses it (its card 0 has no EFA); nobody reports p6-b200 either way.
_LEGACY_LAUNCHES = {"p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"}


@dataclass(frozen=True, order=True)
class NetworkInterface:
    """One entry of a launch template's ``networkInterfaces``: network card, device index on that card, and type."""

    card: int
    device: int
    type: InterfaceType


class EfaLayoutError(ValueError):
    """The instance type can't have this layout; the text says which it can have."""


def efa_policies(instance_type_name: str) -> tuple[EfaPolicy, ...]:
    """The layouts that are known to launch on an instance type, the advised one first; none where it has no EFA.

    Raises:
        UnknownFactError: the catalog has no such instance type.
    """
    row = instance_type(instance_type_name)
    if row.efa_interfaces == 0:
        return ()
    policies: list[EfaPolicy] = ["ip-optimised"]
    if row.name in _BANDWIDTH_OPTIMISED:
        policies.append("bandwidth-optimised")
    if row.name in _LEGACY_LAUNCHES or row.network_cards == 1:
        policies.append("legacy")
    return tuple(policies)


def efa_layout(instance_type_name: str, policy: EfaPolicy = "ip-optimised") -> tuple[NetworkInterface, ...]:
    """The interfaces of one node with every EFA that the type has, ordered by card and device.

    Raises:
        UnknownFactError: the catalog has no such instance type.
        EfaLayoutError: the type has no EFA, or does not launch with this layout.
    """
    row = instance_type(instance_type_name)
    allowed = efa_policies(row.name)
    if policy not in allowed:
        can = f"it launches with {', '.join(allowed)}" if allowed else "it has no EFA"
        raise EfaLayoutError(f"{row.name} can't have the {policy} network layout: {can}")
    cards = range(1, row.network_cards)
    if policy == "legacy":
        return (NetworkInterface(0, 0, "efa"), *(NetworkInterface(card, 1, "efa-only") for card in cards))
    layout = [NetworkInterface(0, 0, "interface"), *(NetworkInterface(card, 0, "efa-only") for card in cards)]
    if row.efa_on_card_zero:
        layout.append(NetworkInterface(0, 1, "efa-only"))
    if policy == "bandwidth-optimised":
        first_cards = range(_CARDS_OF_A_GROUP, row.network_cards, _CARDS_OF_A_GROUP)
        layout += [NetworkInterface(card, 1, "interface") for card in first_cards]
    return tuple(sorted(layout))
