"""One sandbox shared by the tests that need a running control plane."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox.node_groups import NodeGroup
from tests.sandbox.simulated_nodes import node_group, up

if TYPE_CHECKING:
    from sandbox.control_plane import Sandbox

GROUPS = (
    node_group("system", "m7i.xlarge", 2, ("use1-az1", "use1-az2")),
    node_group("p5", "p5.48xlarge", 2, ("use1-az1",)),
)


@pytest.fixture(scope="session")
def groups() -> tuple[NodeGroup, ...]:
    """Two small nodes and two p5 nodes."""
    return GROUPS


@pytest.fixture(scope="session")
def shared_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox for all tests; take ``sandbox`` instead, which repairs what the test before broke."""
    from sandbox.control_plane import Sandbox

    shared = Sandbox(tmp_path_factory.mktemp("shared") / "sandbox")
    try:
        up(shared, GROUPS)
        yield shared
    finally:
        shared.down()


@pytest.fixture
def sandbox(shared_sandbox: Sandbox) -> Sandbox:
    """The shared sandbox, healthy and with ``groups``."""
    up(shared_sandbox, GROUPS)
    return shared_sandbox


@pytest.fixture
def new_sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A sandbox of the test's own, not yet up; it is taken down afterwards."""
    from sandbox.control_plane import Sandbox

    own = Sandbox(tmp_path / "own")
    yield own
    own.down()


@pytest.fixture
def namespace(sandbox: Sandbox, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace for one test, deleted with all that is in it."""
    name = f"test-{abs(hash(request.node.name)) % 10**8}"
    with sandbox.api() as api:
        api.apply(f"/api/v1/namespaces/{name}", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        yield name
        api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def eventually() -> Callable[[Callable[[], bool]], bool]:
    """A function that says whether a check becomes true within 30 s."""

    def wait(check: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 30
        while not check():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    return wait
