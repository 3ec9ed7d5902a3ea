"""The one error that the toolchain shows to people."""

from __future__ import annotations


class ToolchainError(Exception):
    """What went wrong, and in `hint` what to do about it. Shown without a traceback."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n{self.hint}" if self.hint else message
