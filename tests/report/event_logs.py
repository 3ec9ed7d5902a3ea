"""Event logs for tests: the recorded ones, and small ones made by hand in the engine's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from report.events import Preview, preview_of, read_preview

DATA = Path(__file__).parent / "data"
P5 = {"instanceTypes": ["p5.48xlarge"], "scalingConfig": {"minSize": 0.0, "desiredSize": 2.0, "maxSize": 4.0}}
GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
STACK = {"op": "same", "urn": "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod", "type": "pulumi:pulumi:Stack"}


def recorded(name: str) -> Preview:
    return read_preview(DATA / f"{name}.jsonl")


def step(
    op: str,
    kind: str,
    name: str,
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
    *,
    diff: dict[str, str] | None = None,
    parent: str = "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod",
    id: str = "i-1",
) -> dict[str, Any]:
    """The metadata of one planned step; ``diff`` is path to kind of difference."""
    state = {"custom": True, "parent": parent}
    return {
        "op": op,
        "urn": f"urn:pulumi:prod::shop::{kind}::{name}",
        "type": kind,
        "old": None if old is None else {**state, "id": id, "inputs": old},
        "new": None if new is None else {**state, "id": "", "inputs": new},
        "detailedDiff": None if diff is None else {path: {"diffKind": how} for path, how in diff.items()},
    }


def log(
    steps: list[dict[str, Any]], *others: dict[str, Any], result: str = "succeeded", stack: dict[str, Any] = STACK
) -> list[dict[str, Any]]:
    bodies = [{"resourcePreEvent": {"metadata": metadata}} for metadata in (stack, *steps)]
    bodies += [*others, {"summaryEvent": {"isPreview": True, "result": result}}]
    return [{"sequence": number, **body} for number, body in enumerate(bodies)]


def preview(steps: list[dict[str, Any]], *others: dict[str, Any], result: str = "succeeded") -> Preview:
    return preview_of(log(steps, *others, result=result), Path("prod.jsonl"))


def policy(rule: str, message: str, level: str = "mandatory") -> dict[str, Any]:
    return {"policyEvent": {"policyName": rule, "message": f"title\n{message}\n", "enforcementLevel": level}}


def write(file: Path, events: list[dict[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events), encoding="utf-8")
    return file
