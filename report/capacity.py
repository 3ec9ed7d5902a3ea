"""GPUs and their cost per hour, before and after.

From the node groups where the preview has some, with the catalog's prices; else from the stack's outputs ``gpus`` and
``usd_per_hour``, which the program states of the groups that it was told of. Nodes without GPUs are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.instance_types import Price, PriceKind, prices
from report.events import Preview
from report.node_groups import NodeGroup, Side, node_groups

# EKS's capacity types to the catalog's kinds of price. A reservation (ODCR) is billed like on-demand.
_PRICE_KINDS: Mapping[str, PriceKind] = {"ON_DEMAND": "on-demand", "CAPACITY_BLOCK": "capacity-block"}
UNKNOWN = "not known"


@dataclass(frozen=True)
class Row:
    """One line of the table. Texts may come from a stack's outputs: they are not Markdown."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Capacity:
    """The table, and where its prices are from."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def capacity(preview: Preview) -> Capacity:
    """GPUs and cost of a preview; no rows where nothing tells them."""
    sides: tuple[Side, Side] = ("old", "new")
    before, after = (
        [group for group in node_groups(preview.changes, side).values() if group.may_have_gpus] for side in sides
    )
    if not before and not after:
        return _from_outputs(preview)
    rows: list[Row] = []
    for unit, total in (("GPUs", _gpus), ("USD per hour", _usd)):
        start, most = ((total(before, size), total(after, size)) for size in (_desired, _largest))
        if start == most:
            rows.append(Row(unit, *start))
        else:
            rows += [Row(f"{unit}, as the groups start", *start), Row(f"{unit}, at most", *most)]
    return Capacity(tuple(rows), _notes([*before, *after]))


def _desired(group: NodeGroup) -> int | None:
    return group.desired


def _largest(group: NodeGroup) -> int | None:
    return group.largest


def _gpus(groups: list[NodeGroup], size: Callable[[NodeGroup], int | None]) -> str:
    total = 0
    for group in groups:
        nodes, known = size(group), group.known_type
        if nodes is None or known is None:
            return UNKNOWN
        total += nodes * known.gpus
    return str(total)


def _usd(groups: list[NodeGroup], size: Callable[[NodeGroup], int | None]) -> str:
    total = 0.0
    for group in groups:
        nodes, price = size(group), _price(group)
        if nodes is None or (price is None and nodes):
            return UNKNOWN
        total += nodes * price.usd_per_hour if price else 0
    return f"{total:,.2f}"


def _price(group: NodeGroup) -> Price | None:
    kind = _PRICE_KINDS.get(group.capacity_type)
    known = prices(group.instance_types[0]) if len(group.instance_types) == 1 else ()
    return next((price for price in known if price.kind == kind), None)


def _notes(groups: list[NodeGroup]) -> tuple[str, ...]:
    notes = {}
    for group in groups:
        price, kind = _price(group), ", ".join(group.instance_types) or "an instance type that is not known yet"
        notes[kind, group.capacity_type] = (
            f"{kind} {price.kind}: {price.usd_per_hour:.2f} USD, {price.region}, seen {price.date}"
            if price
            else f"{kind} {group.capacity_type}: the catalog has no price"
        )
    return tuple(notes.values())


def _from_outputs(preview: Preview) -> Capacity:
    rows = []
    if "gpus" in {*preview.old_outputs, *preview.new_outputs}:
        rows.append(
            Row("GPUs, at most", _said(preview.old_outputs.get("gpus")), _said(preview.new_outputs.get("gpus")))
        )
    old, new = (_prices_said(outputs) for outputs in (preview.old_outputs, preview.new_outputs))
    kinds = dict.fromkeys((*old, *new))
    rows += [Row(f"USD per hour, {kind}", old.get(kind, "–"), new.get(kind, "–")) for kind in kinds]
    return Capacity(tuple(rows), ())


def _prices_said(outputs: Mapping[str, Any]) -> dict[str, str]:
    said = outputs.get("usd_per_hour")
    return {str(kind): _said(text) for kind, text in said.items()} if isinstance(said, dict) else {}


def _said(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else "–"
