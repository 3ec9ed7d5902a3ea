"""What Go said when it failed, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN_LINES = 25

_HINTS = (
    ("no space left on device", "The disk is full. Free some space, then run it again: Go keeps what it has compiled."),
    ("signal: killed", "The system ended the compiler, most likely for want of memory. End other programs first."),
    ("SECURITY ERROR", "The module is not the one that was pinned. Don't go on before you know why."),
    ("checksum mismatch", "The module is not the one that was pinned. Don't go on before you know why."),
    (
        "missing go.sum entry",
        "go.mod and go.sum don't fit together: restore both, or run `go mod tidy` after a new pin.",
    ),
    ("dial tcp", "The Go module proxy can't be reached. Check the network, GOPROXY and the proxy settings."),
    ("i/o timeout", "The Go module proxy can't be reached. Check the network, GOPROXY and the proxy settings."),
    ("module lookup disabled", "GOPROXY is off. Set it to a proxy that has the pinned modules."),
)
_OTHERWISE = "Run it again: Go keeps what it has compiled."


def last_words(lines: Sequence[str]) -> str:
    """The last lines of `go build -v` that say something: those that only name a package went well."""
    words = [line for line in lines if " " in line or ":" in line]
    return "\n".join(words[-_SHOWN_LINES:])


def hint(words: str) -> str:
    """What to do about these words of Go."""
    return next((advice for sign, advice in _HINTS if sign in words), _OTHERWISE)
