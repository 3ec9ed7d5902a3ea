"""Which network interfaces an instance type can have: cards, device indices, and where EFA may be.

Sources: EC2 user guide "EFA on accelerated computing instance types"; eksctl issue 7520 (device index 2 on p5);
aws-parallelcluster issue 7143 (card 0 of p6-b300 has no EFA); facts/aws.md 2.1 and 7 #2, #3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from catalog.facts import UnknownFactError
from catalog.instance_types import InstanceType, instance_type
from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain

EFA_TYPES = ("efa", "efa-only")


def check(template: Mapping[str, Plain]) -> None:
    """Raise AwsError where the interfaces contradict each other, or the template's own instance type."""
    interfaces = template.get("networkInterfaces")
    if not isinstance(interfaces, Sequence):
        return
    _check_positions(interfaces)
    try:
        instance = instance_type(str(template.get("instanceType")))
    except UnknownFactError:
        return
    for interface in interfaces:
        _check_interface(interface, instance)
    efa = sum(interface.get("interfaceType") in EFA_TYPES for interface in interfaces)
    if efa > instance.efa_interfaces:
        raise AwsError("AttachmentLimitExceeded", f"{efa} EFA interfaces, but {_efa_limit(instance)}.")


def _check_positions(interfaces: Sequence[Mapping[str, Plain]]) -> None:
    places = Counter((_card(interface), _device(interface)) for interface in interfaces)
    for (card, device), count in places.items():
        if count > 1:
            raise AwsError(
                "InvalidParameterValue",
                f"{count} network interfaces have device index {device} on network card {card}; each place takes one.",
            )
    primary = next((interface for interface in interfaces if _card(interface) == 0 and _device(interface) == 0), None)
    if primary is None:
        raise AwsError(
            "InvalidParameterCombination", "No network interface has device index 0 on network card 0, the primary one."
        )
    if primary.get("interfaceType") == "efa-only":
        raise AwsError(
            "InvalidParameterCombination", "An efa-only interface has no address and can't be the primary one (0, 0)."
        )


def _check_interface(interface: Mapping[str, Plain], instance: InstanceType) -> None:
    card, device = _card(interface), _device(interface)
    if card >= instance.network_cards:
        raise AwsError(
            "InvalidParameterValue",
            f"The specified network card index '{card}' exceeds what {instance.name} has: "
            f"{instance.network_cards} cards, 0 to {instance.network_cards - 1}.",
        )
    if device >= instance.enis_on_card_zero:
        raise AwsError(
            "InvalidParameterValue",
            f"The specified number '{device}' for the device index exceeds what a network card of {instance.name} "
            f"takes: {instance.enis_on_card_zero} interfaces, 0 to {instance.enis_on_card_zero - 1}.",
        )
    if interface.get("interfaceType") in EFA_TYPES:
        if instance.efa_interfaces == 0:
            # AWS's words.
            raise AwsError("InvalidParameterCombination", f"EFA interfaces are not supported on {instance.name}")
        if card == 0 and not instance.efa_on_card_zero:
            raise AwsError(
                "InvalidParameterCombination",
                f"EFA interfaces are not supported on network card 0 of {instance.name}; cards 1 to "
                f"{instance.network_cards - 1} take them.",
            )


def _efa_limit(instance: InstanceType) -> str:
    return f"{instance.name} takes {instance.efa_interfaces}"


def _card(interface: Mapping[str, Plain]) -> int:
    return _number(interface.get("networkCardIndex"))


def _device(interface: Mapping[str, Plain]) -> int:
    return _number(interface.get("deviceIndex"))


def _number(value: Plain) -> int:
    return value if isinstance(value, int) else 0
