"""Startup, readiness and liveness of a vLLM container (facts/serving.md 1.5).

The port answers only once the model is loaded, so the startup probe carries the whole load time and the other two start
after it. A busy engine can miss a short probe: liveness waits 10 s and forgives for a minute.
"""

from __future__ import annotations

from typing import Any

_HEALTH = {"path": "/health", "port": "http"}


def probes(startup_failure_threshold: int) -> dict[str, Any]:
    """The three probes, by their container field names."""
    return {
        "startupProbe": {
            "httpGet": _HEALTH,
            "periodSeconds": 10,
            "timeoutSeconds": 5,
            "failureThreshold": startup_failure_threshold,
        },
        "readinessProbe": {"httpGet": _HEALTH, "periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 3},
        "livenessProbe": {"httpGet": _HEALTH, "periodSeconds": 10, "timeoutSeconds": 10, "failureThreshold": 6},
    }
