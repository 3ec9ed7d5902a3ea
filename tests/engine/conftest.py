"""One sandbox for all tests on the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.stack_runs import StackRuns


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StackRuns]:
    """Runs on a sandbox that ends with the session."""
    folder: Path = tmp_path_factory.mktemp("engine") / "sandbox"
    found = StackRuns(folder)
    yield found
    found.sandbox.down()
