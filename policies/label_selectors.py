"""Kubernetes label selectors, and the labels that pods really carry (controllers add some to the template's)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from policies.unknowns import is_unknown, mapping, mappings, sequence, text
from policies.workloads.pods import LEADER_WORKER_SET, RAY_KINDS, PodTemplate

Item = TypeVar("Item")


def selects(selector: Any, labels: Mapping[str, Any]) -> bool:
    """Whether a selector with ``matchLabels`` and ``matchExpressions`` takes these labels; an empty one takes all.

    Raises:
        NotDecidedError: a part that decides is not known yet.
    """
    body = mapping(selector)
    if not equal_labels(body.get("matchLabels"), labels):
        return False
    return all(_expression_holds(row, labels) for row in mappings(body.get("matchExpressions")))


def equal_labels(wanted: Any, labels: Mapping[str, Any]) -> bool:
    """Whether every label of a plain map (a Service's selector) stands in ``labels``."""
    return all(key in labels and text(labels[key]) == text(value) for key, value in mapping(wanted).items())


def _expression_holds(expression: dict[str, Any], labels: Mapping[str, Any]) -> bool:
    key, operator = text(expression.get("key")) or "", text(expression.get("operator"))
    values = {text(value) for value in sequence(expression.get("values"))}
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    if operator == "NotIn":
        return key not in labels or text(labels[key]) not in values
    return key in labels and text(labels[key]) in values


def pod_labels(pod: PodTemplate) -> dict[str, Any]:
    """The labels of the pods that a template makes: its own, and those of the LeaderWorkerSet or Ray controller."""
    owner = pod.resource
    added: dict[str, Any] = {}
    if owner.group_kind == LEADER_WORKER_SET:
        added["leaderworkerset.sigs.k8s.io/name"] = owner.name
        if pod.role == "leader":
            added["leaderworkerset.sigs.k8s.io/worker-index"] = "0"
    elif owner.group_kind in RAY_KINDS:
        added["ray.io/is-ray-node"] = "yes"
        added["ray.io/node-type"] = "head" if pod.role == "leader" else "worker"
        if owner.kind == "RayCluster":
            added["ray.io/cluster"] = owner.name
    return {**added, **pod.labels}


class LabelIndex(Generic[Item]):
    """Things with labels in namespaces, found by a selector without asking each of them."""

    def __init__(self, entries: Iterable[tuple[str, Mapping[str, Any], Item]]) -> None:
        self._all: dict[str, list[tuple[Mapping[str, Any], Item]]] = {}
        self._by_pair: dict[tuple[str, str, str | None], list[tuple[Mapping[str, Any], Item]]] = {}
        for namespace, labels, item in entries:
            entry = (labels, item)
            self._all.setdefault(namespace, []).append(entry)
            for key, value in labels.items():
                # A value that is not known yet may be any: such a thing stands under each value of the key.
                known = None if is_unknown(value) else text(value)
                self._by_pair.setdefault((namespace, key, known), []).append(entry)

    def selected(self, selector: Any, namespaces: Iterable[str] | None) -> list[Item]:
        """The things in these namespaces (None: in all) that a selector takes.

        Raises:
            NotDecidedError: a part that decides is not known yet.
        """
        found = []
        for namespace in self._all if namespaces is None else namespaces:
            found += [item for labels, item in self._candidates(selector, namespace) if selects(selector, labels)]
        return found

    def _candidates(self, selector: Any, namespace: str) -> list[tuple[Mapping[str, Any], Item]]:
        for key, value in mapping(mapping(selector).get("matchLabels")).items():
            written = text(value)
            exact = self._by_pair.get((namespace, key, written), [])
            return exact if written is None else [*exact, *self._by_pair.get((namespace, key, None), [])]
        return self._all.get(namespace, [])
