"""The labels of our objects: the one place that spells them.

``app`` is what selectors use (the article's own label); the ``app.kubernetes.io`` ones are for people and tools.
A Deployment's selector can't change after creation: never add to ``selector_labels``.
"""

from __future__ import annotations


def selector_labels(name: str) -> dict[str, str]:
    """What selects the pods of the model server ``name``."""
    return {"app": name}


def object_labels(name: str, component: str) -> dict[str, str]:
    """The labels of an object that belongs to ``name``; ``component`` is its role, e.g. ``model-server``."""
    return {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/part-of": "gpu-inference",
        "app.kubernetes.io/managed-by": "pulumi",
    }
