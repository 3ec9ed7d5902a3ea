"""How the sandbox's status looks to a person: parts, nodes, and what here is real."""

from __future__ import annotations

import datetime

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sandbox.allocatable import EFA_RESOURCE, GPU_RESOURCE
from sandbox.control_plane import PartStatus, Status
from sandbox.nodes import is_ready

REAL = "etcd, the Kubernetes API server (RBAC, admission), its controllers and scheduler, volume binding."
SIMULATED = (
    "AWS (an imaginary account), the nodes and what they offer (derived from node groups and their templates), "
    "the containers (KWOK says they run; none does), the storage behind volumes. "
    "There is no GPU: nothing here measures speed, memory use or cost of a model."
)


def status_report(status: Status) -> RenderableType:
    """Two tables and the sentence on what is real."""
    return Group(
        _parts_table(status),
        _nodes_table(status),
        Text.assemble(("Real: ", "bold"), REAL),
        Text.assemble(("Simulated: ", "bold"), SIMULATED),
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _gib(quantity: str) -> str:
    """Memory as the sandbox writes it, in MiB, rounded down to GiB; any other notation as it is."""
    return f"{int(quantity.removesuffix('Mi')) // 1024} GiB" if quantity.endswith("Mi") else quantity


def _parts_table(status: Status) -> Table:
    table = _table("Control plane", "part", "pid", "port", "running since", "memory", "health")
    for part in status.parts:
        table.add_row(part.name, *_process_cells(part), _health(part.problem))
    table.add_section()
    table.add_row("total", "", "", "", f"{status.memory_mib:.0f} MiB", "")
    return table


def _process_cells(part: PartStatus) -> tuple[str, str, str, str]:
    port = str(part.port or "–")
    if part.process is None:
        return "–", port, "–", "–"
    since = datetime.datetime.fromtimestamp(part.process.started_at).astimezone()
    return str(part.process.pid), port, f"{since:%Y-%m-%d %H:%M:%S}", f"{part.process.memory_mib:.0f} MiB"


def _health(problem: str | None) -> Text:
    return Text("healthy", "green") if problem is None else Text(problem, "red")


def _nodes_table(status: Status) -> Table:
    table = _table("Nodes (allocatable)", "node", "type", "zone", "GPUs", "EFA", "CPU", "memory", "pods", "ready")
    for node in status.nodes:
        labels, offered = node["metadata"]["labels"], node["status"].get("allocatable", {})
        table.add_row(
            node["metadata"]["name"],
            labels.get("node.kubernetes.io/instance-type", "–"),
            labels.get("topology.k8s.aws/zone-id", "–"),
            offered.get(GPU_RESOURCE, "–"),
            offered.get(EFA_RESOURCE, "–"),
            offered.get("cpu", "–"),
            _gib(offered.get("memory", "–")),
            offered.get("pods", "–"),
            Text("yes", "green") if is_ready(node) else Text("no", "red"),
        )
    return table
