"""How large /dev/shm must be for the ranks of one pod."""

from __future__ import annotations

# The article's line ("> 16Gi"), which holds for up to eight ranks (shared/cases/README.md, rule shm-size).
_FLOOR_GIB = 16
_FLOOR_RANKS = 8


def required_shm_gib(ranks: int) -> int:
    """GiB of /dev/shm for ``ranks`` GPU processes in one pod; 0 for a single one, which shares memory with nobody."""
    if ranks <= 1:
        return 0
    return _FLOOR_GIB * -(-ranks // _FLOOR_RANKS)
