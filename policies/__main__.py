"""What the Pulumi engine starts for ``--policy-pack policies``: serves the rules until the engine ends it."""

from __future__ import annotations

import sys
from pathlib import Path

# The engine runs this file with its own folder first on the path; the packages beside it are one level up.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from policies.pack import serve  # noqa: E402

serve()
