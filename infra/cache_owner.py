"""The user that owns the model cache: whom the servers run as."""

from __future__ import annotations

from infra.settings import StackSettings

ROOT = (0, 0)


def cache_owner(settings: StackSettings) -> tuple[int, int]:
    """uid and gid of the servers that don't run as root (root can write anywhere); root where all do."""
    for server in settings.model_servers:
        version = server.version
        if version.run_as_user is not None:
            return version.run_as_user, version.run_as_group or version.run_as_user
    return ROOT
