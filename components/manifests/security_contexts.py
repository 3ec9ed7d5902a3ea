"""Who the vLLM container runs as: the image's own non-root user where it has one."""

from __future__ import annotations

from typing import Any

from catalog.vllm_versions import VllmVersion


def pod_security_context(version: VllmVersion) -> dict[str, Any]:
    """The pod's ``securityContext``; fsGroup makes fresh volumes writable for the user's group."""
    context: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    if version.run_as_user is not None:
        context |= {
            "runAsNonRoot": True,
            "runAsUser": version.run_as_user,
            "runAsGroup": version.run_as_group,
            "fsGroup": version.run_as_group,
        }
    return context


def container_security_context(version: VllmVersion) -> dict[str, Any]:
    """The container's ``securityContext``. A root image keeps its capabilities: it may need to own its caches."""
    context: dict[str, Any] = {"allowPrivilegeEscalation": False}
    if version.run_as_user is not None:
        context["capabilities"] = {"drop": ["ALL"]}
    return context
