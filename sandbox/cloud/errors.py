"""What AWS or its provider answers to a wrong request."""

from __future__ import annotations


class AwsError(Exception):
    """An error of the AWS API: ``code`` as the service names it, and its sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class StandInError(Exception):
    """The stand-in itself can't go on: it doesn't play this, or it may not start here."""
