"""Prints a stack's settings as the program sees them, defaults filled in: ``python -m infra.resolved_settings STACK``.

Nothing is deployed and nothing is asked of a cluster or cloud. Exit code 2 where the stack file is wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

from infra.checks import check
from infra.settings import SettingsError, StackSettings, parse_settings, stack_file

PROJECT_ROOT = Path(__file__).resolve().parent.parent


def resolved(stack: str, file: Path | None = None) -> StackSettings:
    """The settings of ``stacks/Pulumi.<stack>.yaml``, or of ``file`` in its place.

    Raises:
        SettingsError: anything wrong in the file.
        OSError: there is no such file.
    """
    path = file or PROJECT_ROOT / stack_file(stack)
    config = yaml.safe_load(path.read_text(encoding="utf-8"))["config"]
    # As the engine hands values to a program: text as it is, the rest as JSON.
    flat = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    settings = parse_settings(flat, [], stack)
    problems = check(settings)
    if problems:
        raise SettingsError(stack_file(stack), problems)
    return settings


def main(arguments: list[str]) -> int:
    """Print the settings of the stack named first, as YAML."""
    stack, *files = arguments
    try:
        settings = resolved(stack, Path(files[0]) if files else None)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    yaml.safe_dump(settings.model_dump(mode="json", exclude_none=True), sys.stdout, sort_keys=False, width=120)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
