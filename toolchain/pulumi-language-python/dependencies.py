"""Prints the installed packages as JSON; without --transitive, only those that no other one requires."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata


def normal(name: str) -> str:
    """A distribution's name in the one spelling that compares."""
    return re.sub(r"[-_.]+", "-", name).lower()


packages = {normal(found.name): found for found in metadata.distributions()}
if "--transitive" not in sys.argv:
    required = {
        normal(re.split(r"[^\w.-]", line, maxsplit=1)[0])
        for found in packages.values()
        for line in found.requires or []
        if "extra ==" not in line
    }
    packages = {name: found for name, found in packages.items() if name not in required}
json.dump([{"name": name, "version": packages[name].version} for name in sorted(packages)], sys.stdout)
