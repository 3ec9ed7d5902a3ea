"""How long a server takes from start to ready, and how long a probe waits for it."""

from __future__ import annotations

from catalog.facts import UnknownFactError
from catalog.models import Model, model
from policies.unknowns import whole
from policies.workloads.servers import VllmServer
from sizing.load_time import ENGINE_START_SECONDS
from sizing.weights import checkpoint_gib

_SECONDS_BY_DEFAULT = {"initialDelaySeconds": 0, "periodSeconds": 10, "failureThreshold": 3, "timeoutSeconds": 1}


def catalog_model(server: VllmServer) -> Model | None:
    """The server's model where the catalog has it.

    Raises:
        NotDecidedError: the model can't be seen here.
    """
    name = server.model
    try:
        return model(name) if name else None
    except UnknownFactError:
        return None


def weights_gb(row: Model) -> float:
    """The size of a model's checkpoint in GB (1e9 bytes)."""
    return checkpoint_gib(row) * 2**30 / 1e9


def load_seconds(server: VllmServer, read_gb_per_second: float) -> float | None:
    """An estimate of a cold start in seconds, or None for a model that the catalog doesn't have (or a rate of 0).

    Each node of a pipeline reads its own stages; ranks of one node share what is read.
    """
    row = catalog_model(server)
    if row is None or read_gb_per_second <= 0:
        return None
    return weights_gb(row) / server.nodes / read_gb_per_second + ENGINE_START_SECONDS


def probe_number(probe: dict[str, object], name: str) -> int:
    """A number of a probe, with Kubernetes' default where it isn't stated."""
    value = whole(probe.get(name))
    return _SECONDS_BY_DEFAULT[name] if value is None else value


def failure_window_seconds(probe: dict[str, object]) -> int:
    """How long a probe may fail before the kubelet acts: the initial delay and then every period."""
    period, failures = probe_number(probe, "periodSeconds"), probe_number(probe, "failureThreshold")
    return probe_number(probe, "initialDelaySeconds") + period * failures
