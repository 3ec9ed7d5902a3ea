"""What an EC2 instance type's name tells, also for types that the catalog does not list."""

from __future__ import annotations

import re

from catalog.facts import UnknownFactError
from catalog.instance_types import InstanceType, instance_type

# Every type of the families P, G and GR carries NVIDIA GPUs (EC2 user guide, accelerated computing instances).
_GPU_FAMILY = re.compile(r"(p|g|gr)\d")
_TRAINING_FAMILY = re.compile(r"p[4-9]")
# Sizes of g4dn, g5, g6 and g6e that carry more than one GPU; the other sizes carry one.
_GPUS_OF_SIZE = {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8, "metal": 8}
_ONE_GPU_FAMILY = re.compile(r"(g4dn|g5|g6|g6e)\.\d*xlarge")


def listed(name: str) -> InstanceType | None:
    """The catalog's row for an instance type, or None."""
    try:
        return instance_type(name)
    except UnknownFactError:
        return None


def has_gpu(name: str) -> bool:
    """Whether an instance type carries GPUs: by the catalog, else by its family."""
    row = listed(name)
    return row.gpus > 0 if row else _GPU_FAMILY.match(name) is not None


def gpus_of(name: str) -> int | None:
    """How many GPUs an instance type carries; None where neither the catalog nor the family tells."""
    row = listed(name)
    if row:
        return row.gpus
    if not has_gpu(name):
        return 0
    if _ONE_GPU_FAMILY.fullmatch(name):
        return _GPUS_OF_SIZE.get(name.partition(".")[2], 1)
    return None


def is_scarce(name: str) -> bool:
    """Whether a type is of the families (P4 and later) that one zone often has none of (facts/aws.md section 0, 6)."""
    return _TRAINING_FAMILY.match(name) is not None
