"""Composes one stack: a cluster, then models on it. Structure is decided on the settings alone, never on an Output."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from infra.admission import AdmissionPlan
from infra.compose_aws import compose_aws
from infra.compose_existing import compose_existing
from infra.compose_serving import compose_serving
from infra.settings import StackSettings


def compose(
    settings: StackSettings,
    stack: str,
    definition_files: Sequence[Path],
    *,
    kubeconfig: Path | None,
    admission: AdmissionPlan | None,
    now: datetime.datetime,
) -> None:
    """Declare every resource of the stack and export its outputs.

    ``kubeconfig`` is the path of an existing cluster's, resolved; None where the program makes the cluster.
    ``admission`` is None where the stack has none.
    """
    identifier = f"gpu-inference-{stack}"
    if settings.cluster.eks is not None:
        cluster = compose_aws(settings, settings.cluster.eks, stack, identifier, now)
    else:
        assert settings.cluster.existing is not None
        assert kubeconfig is not None
        cluster = compose_existing(settings, settings.cluster.existing, kubeconfig, identifier)
    compose_serving(settings, cluster, definition_files, admission)
