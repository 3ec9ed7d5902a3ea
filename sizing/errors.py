"""The one error that sizing raises for input that a person gave."""

from __future__ import annotations


class SizingError(ValueError):
    """An input that can't be computed with; the message says what is wrong, what is allowed and what to do."""
