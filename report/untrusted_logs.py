"""The event logs in the folder that an artifact was unpacked to. Whoever opened the pull request made that artifact."""

from __future__ import annotations

import re
from pathlib import Path

from report.errors import InputError
from report.events import Preview, read_preview

MOST_LOGS = 12
"""Stacks that one comment has room for."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}\.jsonl")


def read_folder(folder: Path) -> list[Preview]:
    """The previews in a folder, by stack.

    Raises:
        InputError: it holds something else than a few logs called ``<stack>.jsonl``, or one that is no event log.
    """
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    if len(entries) > MOST_LOGS:
        raise InputError(f"The artifact has {len(entries)} files; at most {MOST_LOGS} stacks are reported.")
    for entry in entries:
        if entry.is_symlink() or not entry.is_file() or not _NAME.fullmatch(entry.name):
            raise InputError("The artifact holds something else than logs called <stack>.jsonl.")
    previews = [read_preview(entry) for entry in entries]
    if any(preview.stack != entry.stem for preview, entry in zip(previews, entries, strict=True)):
        raise InputError("A log in the artifact is another stack's than its name says.")
    return previews
