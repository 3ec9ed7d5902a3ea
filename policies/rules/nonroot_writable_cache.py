"""An arbitrary user has / as its home, where it can't make .triton and .config: the engine dies while it compiles."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import at, whole
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import VllmServer, vllm_servers

_HOME_VARIABLES = ("HOME", "TRITON_CACHE_DIR", "XDG_CACHE_HOME", "TRITON_HOME")
_FOLDERS = ("/.triton", "/.config")


def _user(server: VllmServer) -> int | None:
    """The user id that the container runs as, where the manifest says it."""
    for body in (server.container.body, server.pod.spec):
        user = whole(at(body, "securityContext", "runAsUser"))
        if user is not None:
            return user
    return None


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A server under a user that the image doesn't know has a home folder, or folders, that it can write."""
    for server in vllm_servers(resource):
        user = _user(server)
        image_user = server.version.run_as_user if server.version else None
        if not user or user == image_user or any(server.environment.get(name) for name in _HOME_VARIABLES):
            continue
        if all(server.container.mount_at(folder) for folder in _FOLDERS):
            continue
        message = (
            f"container {server.container.name} runs as user {user}, which the image doesn't know: its home is /, and "
            "/.triton and /.config can't be made. Set HOME to a mounted emptyDir."
        )
        place = server.container.path
        yield violation(message, *place) if server.image.is_stock_vllm else advice(message, *place)


RULE = Rule(
    name="nonroot-writable-cache",
    title="A non-root server has a writable home",
    source="llm-d #1430, #1711; inference-benchmarker #47",
    fix="Set HOME (or TRITON_CACHE_DIR and XDG_CACHE_HOME) to a writable volume.",
    applies_to=POD_OWNERS,
    check=check,
)
