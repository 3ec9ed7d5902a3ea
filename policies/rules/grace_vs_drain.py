"""SIGTERM aborts what runs unless vLLM drains, and the kubelet kills at the end of the grace period."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.vllm_versions import default_vllm_version, vllm_version
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import at, mapping, number, sequence, text, whole
from policies.workloads.pods import LEADER_WORKER_SET
from policies.workloads.servers import VllmServer, engines

# Kubernetes' default where a pod states none.
_DEFAULT_GRACE_SECONDS = 30
_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_KINDS = (
    "Deployment.apps",
    "StatefulSet.apps",
    LEADER_WORKER_SET,
    "Rollout.argoproj.io",
    "InferenceService.serving.kserve.io",
)


def _pre_stop_seconds(server: VllmServer) -> float | None:
    """How long preStop holds SIGTERM back; 0 without one, None for a command that doesn't say."""
    hook = at(server.container.body, "lifecycle", "preStop")
    if not mapping(hook):
        return 0.0
    sleep = number(at(hook, "sleep", "seconds"))
    if sleep is not None:
        return sleep
    command = " ".join(text(word) or "" for word in sequence(at(hook, "exec", "command")))
    waits = [float(found) for found in _SLEEP.findall(command)]
    return sum(waits) if waits else None


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Something delays or drains at SIGTERM, and the grace period is long enough for all of it."""
    for server in engines(resource):
        before = _pre_stop_seconds(server)
        drain = number(server.value("shutdown_timeout")) or 0.0
        stated = whole(server.pod.spec.get("terminationGracePeriodSeconds"))
        grace = _DEFAULT_GRACE_SECONDS if stated is None else stated
        name = server.container.name
        version = server.version or vllm_version(default_vllm_version())
        remedy = "Add preStop sleep 15, --shutdown-timeout 300 and terminationGracePeriodSeconds: 360"
        if not version.has_shutdown_timeout:
            remedy = "Add preStop sleep 300 and terminationGracePeriodSeconds: 360"
        place = server.pod.spec_path
        if before == 0 and drain == 0:
            yield violation(
                f"nothing drains container {name}: SIGTERM aborts running generations while new ones still "
                f"arrive. {remedy}.",
                *place,
            )
        elif before is not None and before + drain > grace:
            yield violation(
                f"container {name} drains for {before:g} s (preStop) + {drain:g} s (--shutdown-timeout), and is killed "
                f"after {grace} s. Set terminationGracePeriodSeconds above {before + drain:g}.",
                *place,
            )
        elif before is not None and drain and before + drain == grace:
            yield advice(
                f"container {name} drains for exactly its {grace} s of grace: leave some seconds to end.",
                *place,
            )
        elif drain == 0 and version.has_shutdown_timeout and before is not None and before < grace / 2:
            yield advice(
                f"container {name} waits {before:g} s in preStop and then aborts what runs: add --shutdown-timeout, so "
                f"that it finishes within its {grace} s.",
                *place,
            )
        elif before == 0:
            yield advice(
                f"container {name} drains, but refuses requests that still arrive while endpoints update: add "
                "preStop sleep 15.",
                *place,
            )


RULE = Rule(
    name="grace-vs-drain",
    title="A server drains, and its grace period is longer than the drain",
    source="vllm #24885, #43208; kserve #5485, #5496; aibrix #553; GAIE #549",
    fix="Set preStop sleep, --shutdown-timeout, and a grace period above their sum.",
    applies_to=_KINDS,
    check=check,
)
