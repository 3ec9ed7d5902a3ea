"""The environment of the vLLM container. The token is a reference to an existing Secret, never a value."""

from __future__ import annotations

from typing import Any

from components.model_server_plan import ModelServerPlan


def vllm_environment(plan: ModelServerPlan) -> list[dict[str, Any]]:
    """The container's ``env``: the token, NCCL's start-up report (it shows NVLink), and the engine's own deadline."""
    version = plan.args.version
    token = plan.args.hugging_face_token
    environment: list[dict[str, Any]] = [
        {
            "name": version.hugging_face_token_variable,
            "valueFrom": {"secretKeyRef": {"name": token.name, "key": token.key}},
        },
        {"name": "NCCL_DEBUG", "value": "INFO"},
    ]
    if version.engine_ready_timeout_variable:
        # Else vLLM ends itself after its own 600 s, whatever the startup probe allows.
        environment.append(
            {"name": version.engine_ready_timeout_variable, "value": str(plan.startup_failure_threshold * 10)}
        )
    return environment
