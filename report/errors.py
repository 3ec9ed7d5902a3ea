"""Errors that a person reads: one sentence on what is wrong, one on what to do."""

from __future__ import annotations


class ReportError(Exception):
    """The report can't be made; ``exit_code`` is the command's."""

    exit_code = 1


class InputError(ReportError):
    """What was handed in is wrong (a file, an option); nothing was posted."""

    exit_code = 2
