"""FSx for Lustre's sizes: 1.2 TiB, or a multiple of 2.4 TiB, on SSD; a throughput for the persistent kinds.

Source: botocore's text on ``CreateFileSystem`` (StorageCapacity, PerUnitStorageThroughput).
"""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain

SMALLEST_GIB = 1200
STEP_GIB = 2400
_THROUGHPUTS = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}


def check(file_system: Mapping[str, Plain]) -> None:
    """Raise AwsError for a size or throughput that FSx doesn't sell."""
    kind, storage = file_system.get("deploymentType") or "SCRATCH_1", file_system.get("storageType") or "SSD"
    size = file_system.get("storageCapacity")
    if isinstance(size, int) and storage == "SSD" and kind != "SCRATCH_1" and size != SMALLEST_GIB and size % STEP_GIB:
        raise AwsError(
            "BadRequest",
            f"StorageCapacity {size} is invalid for {kind} on SSD: {SMALLEST_GIB} GiB, or a multiple of {STEP_GIB}.",
        )
    allowed = _THROUGHPUTS.get((str(kind), str(storage)))
    throughput = file_system.get("perUnitStorageThroughput")
    if allowed and not (throughput in allowed or (throughput is not None and not isinstance(throughput, int))):
        raise AwsError(
            "BadRequest",
            f"PerUnitStorageThroughput {throughput} is invalid for {kind} on {storage}; "
            f"allowed: {', '.join(map(str, allowed))} MB/s per TiB.",
        )
