"""What a person should hear at each run, though nothing is wrong yet. Pure: settings and the time in, sentences out."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from catalog.eks_pins import eks_pins
from components.capacity import CapacityBlocks
from components.node_group_plan import SCALE_DOWN_BEFORE_END, block_phase
from infra.settings import StackSettings

# EKS upgrades one minor version at a time, and add-ons and nodes follow: a quarter is a calm time for it.
SUPPORT_NOTICE = datetime.timedelta(days=90)


def notices(settings: StackSettings, now: datetime.datetime) -> Iterator[str]:
    """Sentences for the log of a run."""
    if settings.cluster.eks is None:
        return
    pins = eks_pins()
    if pins.end_of_standard_support - now.date() <= SUPPORT_NOTICE:
        yield (
            f"Kubernetes {pins.kubernetes_version} may leave EKS's standard support on {pins.end_of_standard_support}; "
            "the control plane is then upgraded by AWS. Upgrade before: catalog/data/pins.yaml."
        )
    for group in settings.node_groups:
        if isinstance(group.capacity, CapacityBlocks):
            for block in group.capacity.blocks:
                name = f"{group.name}-{block.reservation_id}"
                phase = block_phase(block, now)
                if phase == "waiting":
                    yield f"{name}: no node before the block starts at {block.start.isoformat()}; run up again then."
                elif phase == "over":
                    down = (block.end - SCALE_DOWN_BEFORE_END).isoformat()
                    yield f"{name}: the block is over (scaled down from {down} on); remove it from the stack file."
