"""What KWOK plays: the kubelets (nodes and pods, by KWOK's own stage files) and the volume provisioner (our stages)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml

from sandbox.autoscaling import SCALED_OBJECT_STAGE
from sandbox.storage import VOLUME_STAGES

KUBELET_KINDS = ("Node", "Pod")


def kwok_configuration(stage_files: Iterable[Path], *, scaled_objects: bool) -> str:
    """One YAML file for ``kwok --config``: the stages for nodes and pods in KWOK's files, then our own.

    ``scaled_objects`` adds KEDA's stand-in; only for a cluster that has its CRDs.

    KWOK's own volume stages are left out: they bind claims themselves, where the real volume controller should.
    """
    documents = [
        document
        for path in sorted(stage_files)
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        if document["kind"] == "Stage" and document["spec"]["resourceRef"]["kind"] in KUBELET_KINDS
    ]
    ours = [*VOLUME_STAGES, SCALED_OBJECT_STAGE] if scaled_objects else VOLUME_STAGES
    return yaml.safe_dump_all([*documents, *ours], sort_keys=False)
