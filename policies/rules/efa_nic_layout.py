"""A launch template's network interfaces must be a layout that EC2 launches and that reaches every EFA of the type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from catalog.efa_layout import NetworkInterface, efa_layout, efa_policies
from catalog.instance_types import InstanceType
from policies.aws.instances import is_scarce, listed
from policies.aws.launch_templates import LAUNCH_TEMPLATE, instance_type_of, interface_type, is_efa
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import mappings, whole

# Up to so many EFAs the addresses that `efa` (unlike `efa-only`) takes are no concern.
_FEW_EFA_INTERFACES = 4


def _slot(interface: dict[str, Any]) -> tuple[int, int]:
    """Card and device index; EC2 takes 0 where the template says nothing."""
    return whole(interface.get("networkCardIndex")) or 0, whole(interface.get("deviceIndex")) or 0


def _structural(interfaces: list[dict[str, Any]]) -> Iterator[str]:
    """What no instance type launches."""
    slots = Counter(_slot(interface) for interface in interfaces)
    for (card, device), count in sorted(slots.items()):
        if count > 1:
            yield f"{count} interfaces stand on card {card}, device {device}: give each one its own"
    efa_cards = Counter(_slot(interface)[0] for interface in interfaces if is_efa(interface))
    for card, count in sorted(efa_cards.items()):
        if count > 1:
            yield (
                f"{count} EFA interfaces stand on card {card}, and a card takes one: set networkCardIndex 0, 1, 2, … "
                "(without it, all land on card 0)"
            )
    primary = [interface for interface in interfaces if _slot(interface) == (0, 0)]
    if not primary:
        yield "no interface stands on card 0, device 0: add the primary one there"
    elif interface_type(primary[0]) == "efa-only":
        yield "the primary interface (card 0, device 0) is efa-only, which has no address: make it `interface`"


def _against_type(interfaces: list[dict[str, Any]], row: InstanceType) -> Iterator[str]:
    """What this instance type does not launch."""
    efa_count = sum(1 for interface in interfaces if is_efa(interface))
    if row.efa_interfaces == 0:
        yield f"{row.name} has no EFA: remove the EFA interfaces, or choose a type with EFA"
        return
    for card in sorted({_slot(interface)[0] for interface in interfaces}):
        if card >= row.network_cards:
            yield f"card {card} does not exist on {row.name}: its cards are 0 to {row.network_cards - 1}"
    for card, device in sorted({_slot(interface) for interface in interfaces}):
        if device >= row.enis_on_card_zero:
            yield f"device index {device} on card {card} is too high: {row.name} takes 0 to {row.enis_on_card_zero - 1}"
    if not row.efa_on_card_zero and any(is_efa(interface) and _slot(interface)[0] == 0 for interface in interfaces):
        yield f"card 0 of {row.name} takes no EFA: make it `interface`, with EFA on cards 1 to {row.network_cards - 1}"
    if efa_count > row.efa_interfaces:
        yield f"{efa_count} EFA interfaces are more than the {row.efa_interfaces} of {row.name}"


def _known_layout(interfaces: list[dict[str, Any]], row: InstanceType) -> bool:
    """Whether the interfaces are one of the catalog's layouts; `efa` stands for `efa-only` beyond the primary one."""

    def shape(card: int, device: int, kind: str) -> tuple[int, int, bool]:
        return card, device, kind == "interface"

    mine = {shape(*_slot(interface), interface_type(interface)) for interface in interfaces}
    layouts: list[tuple[NetworkInterface, ...]] = [efa_layout(row.name, policy) for policy in efa_policies(row.name)]
    return any(mine == {shape(entry.card, entry.device, entry.type) for entry in layout} for layout in layouts)


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge templates that attach at least one EFA."""
    interfaces = mappings(resource.at("networkInterfaces"))
    if not any(is_efa(interface) for interface in interfaces):
        return
    faults = list(_structural(interfaces))
    for fault in faults:
        yield violation(fault, "networkInterfaces")
    name = instance_type_of(resource)
    row = listed(name) if name else None
    if row is None:
        return
    against_type = list(_against_type(interfaces, row))
    for fault in against_type:
        yield violation(fault, "networkInterfaces")
    if faults or against_type:
        return
    efa_count = sum(1 for interface in interfaces if is_efa(interface))
    if efa_count < row.efa_interfaces:
        report = violation if is_scarce(row.name) else advice
        yield report(
            f"{efa_count} of the {row.efa_interfaces} EFA interfaces of {row.name} are attached, so NCCL gets that "
            "share of the fabric: attach one on every card that has EFA",
            "networkInterfaces",
        )
    elif not _known_layout(interfaces, row):
        yield advice(
            f"this is none of the layouts known to launch on {row.name} ({', '.join(efa_policies(row.name))}): prefer "
            "`interface` on card 0 device 0 and `efa-only` on every EFA",
            "networkInterfaces",
        )
    secondary = [
        interface for interface in interfaces if _slot(interface)[0] > 0 and interface_type(interface) == "efa"
    ]
    if secondary and row.efa_interfaces > _FEW_EFA_INTERFACES:
        yield advice(
            f"{len(secondary)} cards carry `efa`, which takes an address each and keeps nodes from joining: use "
            "`efa-only`",
            "networkInterfaces",
        )


RULE = Rule(
    name="efa-nic-layout",
    title="EFA interfaces are laid out so that the instance type launches",
    source="eksctl #7520, #7643, #8685; terraform-aws-eks #2182, #3653; amazon-eks-ami #2423; EC2 user guide, "
    "accelerated types",
    fix="Write the interfaces of catalog/efa_layout.py for the instance type into the launch template.",
    applies_to=(LAUNCH_TEMPLATE,),
    check=check,
)
