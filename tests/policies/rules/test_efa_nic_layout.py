"""efa-nic-layout: what launches, what does not, and what reaches a part of the fabric only."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.efa_layout import efa_layout, efa_policies
from catalog.instance_types import instance_types
from tests.policies.builders import LAUNCH_TEMPLATE, UNKNOWN, efa_nics, found, judge, launch_template, nics

RULE = "efa-nic-layout"
EFA_TYPES = [name for name in instance_types() if efa_policies(name)]


def verdicts(instance_type: Any, interfaces: Any) -> list[str]:
    return judge(RULE, launch_template(instance_type=instance_type, networkInterfaces=interfaces))


@pytest.mark.parametrize("name", EFA_TYPES)
def test_every_layout_of_the_catalog_passes(name: str) -> None:
    for policy in efa_policies(name):
        layout = efa_layout(name, policy)
        assert verdicts(name, nics(*((entry.card, entry.device, entry.type) for entry in layout))) == []


@pytest.mark.parametrize(
    ("instance_type", "interfaces", "word"),
    [
        ("p4d.24xlarge", [{"deviceIndex": index, "interfaceType": "efa"} for index in range(4)], "networkCardIndex"),
        ("p5.48xlarge", nics((0, 0, "efa"), *((card, 2, "efa-only") for card in range(1, 32))), "device index 2"),
        ("p6-b300.48xlarge", nics((0, 0, "efa"), *((card, 0, "efa-only") for card in range(1, 17))), "card 0 of"),
        ("p6-b300.48xlarge", efa_nics(17), "card 0 of"),
        ("p5e.48xlarge", efa_nics(16), "16 of the 32"),
        ("p5en.48xlarge", efa_nics(32), "card 16 does not exist"),
        ("p5.48xlarge", efa_nics(32)[1:], "no interface stands on card 0, device 0"),
        ("p5.48xlarge", nics((0, 0, "efa-only"), *((c, 0, "efa-only") for c in range(1, 32))), "has no address"),
        ("p5.48xlarge", [*efa_nics(32), *nics((3, 0, "efa-only"))], "card 3, device 0"),
        ("g9.8xlarge", nics((0, 0, "efa")), None),  # not in the catalog: nothing is known against it
        ("g6.xlarge", nics((0, 0, "efa")), "has no EFA"),
    ],
)
def test_what_ec2_refuses_or_leaves_unused(instance_type: str, interfaces: Any, word: str | None) -> None:
    messages = [
        item.message
        for item in found(RULE, launch_template(instance_type=instance_type, networkInterfaces=interfaces))
        if item.verdict == "violation"
    ]
    assert any(word in message for message in messages) if word else messages == []


def test_indexes_may_be_text_or_floats() -> None:
    assert (
        verdicts("p5.48xlarge", [{**row, "networkCardIndex": str(row["networkCardIndex"])} for row in efa_nics(32)])
        == []
    )
    assert verdicts("p5.48xlarge", [{**row, "deviceIndex": float(row["deviceIndex"])} for row in efa_nics(32)]) == []


def test_a_part_of_the_efa_interfaces_is_advice_on_g_types_and_so_are_addresses_on_many_cards() -> None:
    assert verdicts("g6e.48xlarge", nics((0, 0, "efa"))) == [f"advice {LAUNCH_TEMPLATE}"]
    all_efa = nics((0, 0, "efa"), *((card, 1, "efa") for card in range(1, 16)))
    assert verdicts("p5en.48xlarge", all_efa) == [f"advice {LAUNCH_TEMPLATE}"]


def test_the_old_layout_on_p6_b200_is_advice_since_nobody_reports_it_either_way() -> None:
    old = nics((0, 0, "efa"), *((card, 1, "efa-only") for card in range(1, 8)))
    assert verdicts("p6-b200.48xlarge", old) == [f"advice {LAUNCH_TEMPLATE}"]


def test_unknown_interfaces_or_types_are_not_decided() -> None:
    assert verdicts("p5.48xlarge", UNKNOWN) == [f"undecided {LAUNCH_TEMPLATE}"]
    assert verdicts(UNKNOWN, efa_nics(16)) == [f"undecided {LAUNCH_TEMPLATE}"]
    # Two EFAs on one card are wrong on any type.
    assert "violation" in str(verdicts(UNKNOWN, nics((0, 0, "efa"), (0, 1, "efa"))))


def test_templates_without_efa_are_not_its_business() -> None:
    assert verdicts("p5.48xlarge", None) == []
    assert verdicts("m7i.xlarge", nics((0, 0, "interface"))) == []
