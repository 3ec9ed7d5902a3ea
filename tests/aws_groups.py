"""Node groups for tests: entries of ``node_groups`` by instance type and kind of capacity."""

from __future__ import annotations

import json
from typing import Any

from components.node_group_args import NodeGroupArgs

ON_DEMAND = {"kind": "on_demand", "zone": "use1-az4"}
ODCR = {"kind": "odcr", "zone": "use1-az4", "reservation_id": "cr-0123456789abcdef0", "instance_count": 2}
BLOCK = {
    "reservation_id": "cr-0a1b2c3d4e5f60718",
    "zone": "use1-az6",
    "instance_count": 2,
    "start": "2026-12-01T11:30:00Z",
    "end": "2026-12-15T11:30:00Z",
}
NEXT_BLOCK = BLOCK | {
    "reservation_id": "cr-0ffffffffffffffff",
    "start": "2026-12-15T11:30:00Z",
    "end": "2026-12-29T11:30:00Z",
}


def node_group(
    instance_type: str = "p5.48xlarge", capacity: dict[str, Any] | None = None, **more: Any
) -> NodeGroupArgs:
    """An entry as a stack file would give it."""
    entry = {"name": "p5", "instance_type": instance_type, "count": 2, "capacity": capacity or ODCR, **more}
    return NodeGroupArgs.model_validate_json(json.dumps(entry), strict=True)


def blocks(*entries: dict[str, Any]) -> dict[str, Any]:
    """Capacity of these blocks."""
    return {"kind": "capacity_block", "blocks": list(entries or (BLOCK,))}
