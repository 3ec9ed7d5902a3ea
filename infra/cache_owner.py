"""The user that owns the model cache: whom the servers run as."""

from __future__ import annotations

from infra.settings import StackSettings

ROOT = (0, 0)


def cache_owner(settings: StackSettings) -> tuple[int, int]:
    """uid and gid of the servers that don't run as root (root can write anywhere); root where all do."""
    for server in settings.model_servers:
        user, group = server.version.run_as_user, server.version.run_as_group
        if user is not None:
            return user, user if group is None else group
    return ROOT
