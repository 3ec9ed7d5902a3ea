"""The imaginary account of a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox.cloud.imaginary import Imaginary


@pytest.fixture
def imaginary(tmp_path: Path) -> Imaginary:
    """A network of three zones and a cluster."""
    return Imaginary(tmp_path)
