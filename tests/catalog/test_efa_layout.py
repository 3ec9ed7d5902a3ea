"""The EFA layouts: the numbers of the EC2 user guide, and what holds for every type."""

from __future__ import annotations

from collections import Counter

import pytest

from catalog.efa_layout import EfaLayoutError, NetworkInterface, efa_layout, efa_policies
from catalog.facts import UnknownFactError
from catalog.instance_types import instance_type, instance_types

PAIRS = [(name, policy) for name in instance_types() for policy in efa_policies(name)]


@pytest.mark.parametrize(
    ("name", "interfaces", "efa"),
    [
        ("p5.4xlarge", 2, 1),
        ("p4d.24xlarge", 5, 4),
        ("p5.48xlarge", 33, 32),
        ("p5e.48xlarge", 33, 32),
        ("p5en.48xlarge", 17, 16),
        ("p6-b200.48xlarge", 9, 8),
        ("p6-b300.48xlarge", 17, 16),
    ],
)
def test_the_ip_optimised_table_of_the_user_guide(name: str, interfaces: int, efa: int) -> None:
    layout = efa_layout(name)
    assert len(layout) == interfaces
    assert sum(entry.type == "efa-only" for entry in layout) == efa
    assert sum(entry.type == "interface" for entry in layout) == 1


def test_bandwidth_optimised_adds_one_address_for_each_group_of_cards() -> None:
    added = set(efa_layout("p5.48xlarge", "bandwidth-optimised")) - set(efa_layout("p5.48xlarge"))
    assert added == {NetworkInterface(card, 1, "interface") for card in (4, 8, 12, 16, 20, 24, 28)}


def test_card_zero_of_p6_b300_carries_no_efa() -> None:
    assert [entry.type for entry in efa_layout("p6-b300.48xlarge") if entry.card == 0] == ["interface"]


@pytest.mark.parametrize(("name", "policy"), PAIRS)
def test_every_layout_is_one_that_ec2_can_launch(name: str, policy: str) -> None:
    layout = efa_layout(name, policy)  # type: ignore[arg-type]
    row = instance_type(name)
    assert len({(entry.card, entry.device) for entry in layout}) == len(layout)
    assert max(Counter(entry.card for entry in layout if entry.type != "interface").values()) == 1
    assert sum(entry.type != "interface" for entry in layout) == row.efa_interfaces
    assert all(entry.card < row.network_cards and entry.device < row.enis_on_card_zero for entry in layout)
    assert layout[0].card == layout[0].device == 0
    assert layout[0].type != "efa-only"  # the primary interface has an address


def test_what_a_type_can_not_have() -> None:
    with pytest.raises(EfaLayoutError, match="it launches with ip-optimised"):
        efa_layout("p6-b300.48xlarge", "legacy")
    with pytest.raises(EfaLayoutError, match="has no EFA"):
        efa_layout("m7i.xlarge")
    with pytest.raises(UnknownFactError, match=r"p5\.48xlarge"):
        efa_layout("p5.48xlarg")
