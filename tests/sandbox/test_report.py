"""The status as people see it, and when it counts as healthy."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from sandbox.control_plane import PartStatus, Status
from sandbox.report import status_report


def node(ready: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "p5-1", "labels": {"node.kubernetes.io/instance-type": "p5.48xlarge"}},
        "status": {
            "conditions": [{"type": "Ready", "status": ready}],
            "allocatable": {"nvidia.com/gpu": "8", "memory": "2085980Mi"},
        },
    }


WELL = PartStatus("etcd", 20000, None, None)
ILL = PartStatus("kwok", 20001, None, "answers 500: no")


@pytest.mark.parametrize(
    ("parts", "nodes", "healthy"),
    [
        ((WELL,), (node("True"),), True),
        ((WELL,), (node("Unknown"),), False),
        ((WELL, ILL), (node("True"),), False),
        ((WELL,), (), True),
    ],
)
def test_healthy_means_every_part_and_every_node(
    parts: tuple[PartStatus, ...], nodes: tuple[dict[str, Any], ...], healthy: bool
) -> None:
    assert Status(parts, nodes).healthy is healthy


def test_the_report_names_problems_and_what_is_simulated() -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(status_report(Status((WELL, ILL), (node("True"),))))
    text = console.export_text()
    assert "answers 500: no" in text
    assert "2037 GiB" in text
    assert "Simulated: AWS (an imaginary account), the nodes" in text
    assert "There is no GPU" in text
