"""Errors that a person reads: one sentence on what is wrong, one on what to do."""

from __future__ import annotations


class SandboxError(Exception):
    """The sandbox can't do what was asked. The message is for people; ``exit_code`` is the command's."""

    exit_code = 1


class InputError(SandboxError):
    """What the user wrote is wrong (a file, an option); nothing has been changed."""

    exit_code = 2
