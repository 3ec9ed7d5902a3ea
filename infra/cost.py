"""What the stack's nodes cost an hour, by price kind."""

from __future__ import annotations

from catalog.instance_types import instance_type, prices
from infra.settings import StackSettings


def gpus(settings: StackSettings) -> int:
    """GPUs of all node groups at their most."""
    return sum(group.count * instance_type(group.instance_type).gpus for group in settings.node_groups)


def usd_per_hour(settings: StackSettings) -> dict[str, str]:
    """For each price kind: USD an hour of all GPU nodes, and the day of the oldest price in it.

    A kind for which one of the types has no known price is left out. System nodes are not counted.
    """
    groups = [group for group in settings.node_groups if instance_type(group.instance_type).gpus and group.count]
    known = [{price.kind: price for price in prices(group.instance_type)} for group in groups]
    kinds = [kind for kind in (known[0] if known else {}) if all(kind in table for table in known)]
    found: dict[str, str] = {}
    for kind in kinds:
        total = sum(group.count * table[kind].usd_per_hour for group, table in zip(groups, known, strict=True))
        oldest = min(table[kind].date for table in known)
        found[kind] = f"{total:.2f} (price of {oldest}, {known[0][kind].region})"
    return found
