"""Shortens a recorded event log to what the report reads: ``python tests/report/shorten_log.py LOG > SHORT``.

Left out: debug messages, the prelude, policy summaries, what the engine tells twice, states' outputs, unchanged
resources other than node groups and launch templates. Kept as they were: steps, inputs, diffs, policy events, errors.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

KEPT_UNCHANGED = {"pulumi:pulumi:Stack", "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"}
STACK = "pulumi:pulumi:Stack"


def kept(event: dict[str, Any]) -> bool:
    if metadata := (event.get("resourcePreEvent") or {}).get("metadata"):
        return metadata["op"] != "same" or metadata["type"] in KEPT_UNCHANGED
    if metadata := (event.get("resOutputsEvent") or {}).get("metadata"):
        return bool(metadata["type"] == STACK)
    if message := event.get("diagnosticEvent"):
        return bool(message["severity"] == "error")
    return "policyEvent" in event or "summaryEvent" in event


def without_outputs(event: dict[str, Any]) -> dict[str, Any]:
    for key in ("resourcePreEvent", "resOutputsEvent"):
        metadata = (event.get(key) or {}).get("metadata")
        if metadata and metadata["type"] != STACK:
            for side in ("old", "new"):
                (metadata[side] or {}).pop("outputs", None)
    return event


def main() -> None:
    for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if kept(event):
            print(json.dumps(without_outputs(event), separators=(",", ":")))


if __name__ == "__main__":
    main()
