"""What a change replaces, drains or ends, GPU groups and the cluster first.

The first two need an acknowledgement: GPUs that are given up may not come back (a reservation, a capacity block, a
zone that has none left), and a cluster that is replaced ends everything on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from report.changes import Change
from report.node_groups import LAUNCH_TEMPLATE, NODE_GROUP, NodeGroup, has_gpus, node_groups, template_types

# Changes of these make EKS replace a managed group's nodes one after another (EKS user guide, "Update a managed node
# group"); sizes, labels and the update settings change in place.
_ROLLING = (("launchTemplate",), ("version",), ("releaseVersion",))


class Rank(IntEnum):
    """The order in a comment."""

    CLUSTER = 0
    GPU_GROUP = 1
    GPU_CAPACITY = 2
    STORAGE = 3
    WORKLOAD = 4
    NODES = 5
    RESTART = 6


@dataclass(frozen=True)
class Hazard:
    """One resource that is replaced, deleted, drained or restarted, and what that means to those who use it."""

    change: Change
    what: str
    """``replace``, ``delete``, ``drain`` or ``restart``: the word of the acknowledgement too."""
    meaning: str
    rank: Rank

    @property
    def needs_acknowledgement(self) -> bool:
        """Whether the check fails until the pull request says that this is meant."""
        return self.rank in (Rank.CLUSTER, Rank.GPU_GROUP) and self.what != "restart"


def hazards(changes: tuple[Change, ...]) -> tuple[Hazard, ...]:
    """All hazards of a preview, the gravest first."""
    before, after = node_groups(changes, "old"), node_groups(changes, "new")
    found = [
        hazard
        for change in changes
        if change.action not in ("same", "create")
        for hazard in _of(change, before.get(change.urn), after.get(change.urn))
    ]
    return tuple(sorted(found, key=lambda hazard: hazard.rank))


def _of(change: Change, before: NodeGroup | None, after: NodeGroup | None) -> Iterator[Hazard]:
    if change.type == NODE_GROUP and before is not None:
        yield from _node_group(change, before, after or before)
    elif change.type == LAUNCH_TEMPLATE:
        yield from _launch_template(change)
    elif change.action in ("replace", "delete"):
        if change.type in _ENDED:
            rank, meaning = _ENDED[change.type]
            yield Hazard(change, change.action, meaning, rank)
        elif change.type.startswith("kubernetes:") and change.kind in _ENDED_KINDS:
            rank, told = _ENDED_KINDS[change.kind]
            yield Hazard(change, change.action, told(change), rank)
    elif change.action == "update" and change.type.startswith("kubernetes:"):
        yield from _restart(change)


# --- node groups ---


def _node_group(change: Change, before: NodeGroup, after: NodeGroup) -> Iterator[Hazard]:
    gpus = before.may_have_gpus
    rank = Rank.GPU_GROUP if gpus else Rank.NODES
    size = f"{before.desired} nodes" if before.desired is not None else "all nodes"
    kind = ", ".join(before.instance_types) or "an instance type that is not known yet, taken for a GPU's"
    if change.action == "delete":
        yield Hazard(change, "delete", f"{size} ({kind}) end, with every pod on them", rank)
    elif change.action == "replace":
        order = "the old group goes first" if change.deleted_first else "the old group goes once the new one is there"
        if gpus and not change.deleted_first:
            order += ", which needs as many free GPUs again"
        yield Hazard(change, "replace", f"{size} ({kind}) end, with every pod on them; {order}", rank)
    elif reasons := _drain_reasons(change, before, after):
        yield Hazard(change, "drain", f"{'; '.join(reasons)} ({kind})", rank)


def _drain_reasons(change: Change, before: NodeGroup, after: NodeGroup) -> list[str]:
    reasons = []
    if change.changes_under(*_ROLLING):
        reasons.append("every node is drained and replaced, one after another, for a new template, version or AMI")
    lowered = [
        f"{words} falls from {was} to {now}"
        for words, was, now in (
            ("the number of nodes", before.desired, after.desired),
            # A lower maximum ends nodes only where it is below what runs.
            ("the most nodes", before.desired, after.largest),
        )
        if was is not None and now is not None and now < was
    ]
    reasons += lowered[:1]
    if _evicting_taints(change.new) - _evicting_taints(change.old):
        reasons.append("a NO_EXECUTE taint ends the pods that don't tolerate it")
    return reasons


def _evicting_taints(body: Mapping[str, Any]) -> set[tuple[str, str]]:
    taints = body.get("taints")
    entries = [taint for taint in taints if isinstance(taint, dict)] if isinstance(taints, list) else []
    return {
        (str(taint.get("key")), str(taint.get("value"))) for taint in entries if taint.get("effect") == "NO_EXECUTE"
    }


def _launch_template(change: Change) -> Iterator[Hazard]:
    types = template_types(change)
    if types and not any(map(has_gpus, types)):
        return
    meaning = {
        "update": "a new version; the nodes of the groups that use it are replaced when they take it",
        "replace": "the groups that use it are replaced with it",
        "delete": "no group can start a node from it any more",
    }
    if change.action in meaning:
        yield Hazard(change, change.action, meaning[change.action], Rank.GPU_CAPACITY)


# --- other resources that end ---

_CLUSTER_ENDS = (Rank.CLUSTER, "the cluster ends, with everything on it; its endpoint and its identity change")
_RESERVATION_ENDS = (Rank.GPU_CAPACITY, "reserved capacity is given back, and may not be had again")
_DATA_ENDS = (Rank.STORAGE, "what is stored there is lost; weights are loaded again")
_ENDED: Mapping[str, tuple[Rank, str]] = {
    "aws:eks/cluster:Cluster": _CLUSTER_ENDS,
    "eks:index:Cluster": _CLUSTER_ENDS,
    "aws:ec2/capacityReservation:CapacityReservation": _RESERVATION_ENDS,
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": _RESERVATION_ENDS,
    "aws:autoscaling/group:Group": (Rank.NODES, "all its nodes end, with every pod on them"),
    "aws:fsx/lustreFileSystem:LustreFileSystem": _DATA_ENDS,
    "aws:efs/fileSystem:FileSystem": _DATA_ENDS,
}
_POD_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "LeaderWorkerSet": ("spec", "leaderWorkerTemplate"),
    "RayService": ("spec", "rayClusterConfig"),
}


def _pods_end(change: Change) -> str:
    if change.action == "delete":
        return "all its pods end"
    order = "before the new ones start" if change.deleted_first else "as soon as the new object is there"
    return f"all its pods end at once, {order}, whatever its rollout strategy says"


_ENDED_KINDS: Mapping[str, tuple[Rank, Callable[[Change], str]]] = {
    **dict.fromkeys(_POD_TEMPLATES, (Rank.WORKLOAD, _pods_end)),
    "Namespace": (Rank.WORKLOAD, lambda _: "everything in the namespace is deleted"),
    "PersistentVolumeClaim": (Rank.STORAGE, lambda _: _DATA_ENDS[1]),
    "PersistentVolume": (Rank.STORAGE, lambda _: _DATA_ENDS[1]),
    "CustomResourceDefinition": (Rank.WORKLOAD, lambda _: "every object of this kind is deleted with it"),
    "NodePool": (Rank.NODES, lambda _: "all its nodes end, with every pod on them"),
}


def _restart(change: Change) -> Iterator[Hazard]:
    template = _POD_TEMPLATES.get(change.kind)
    if template is None or not change.changes_under(template):
        return
    spec = change.new.get("spec")
    strategy = spec.get("strategy") if isinstance(spec, dict) else None
    if isinstance(strategy, dict) and strategy.get("type") == "Recreate":
        yield Hazard(change, "restart", "all its pods end before the new ones start (Recreate)", Rank.WORKLOAD)
    else:
        yield Hazard(change, "restart", "its pods are replaced as its rollout strategy says", Rank.RESTART)
