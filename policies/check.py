# ruff: noqa: T201 - the command prints
"""``python -m policies.check FILE…|-``: the rules on plain YAML and on Pulumi's JSON, without Pulumi.

Exit codes: 0 nothing or advice only, 1 violations, 2 input that can't be judged. Imports no Pulumi SDK.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from policies.configuration import Configuration, ConfigurationError, load_configuration
from policies.evaluate import findings
from policies.loading import InputError, load
from policies.model import ResourceSet
from policies.registry import rules
from policies.report import FORMATS

CONTEXT_KEYS = ("cluster_gpus", "gateway", "prometheus", "addons", "note")
_BAD_INPUT = 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m policies.check",
        description="Judge Kubernetes manifests and Pulumi resources by the rules for LLM inference on GPUs.",
        epilog="Exit codes: 0 nothing or advice only, 1 violations, 2 input that can't be judged.",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="YAML or JSON files, folders, or - for standard input")
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to report (default: table)")
    parser.add_argument(
        "--context", type=Path, metavar="FILE", help=f"facts from outside the files, YAML: {', '.join(CONTEXT_KEYS)}"
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="levels, parameters and waivers: policies/config/<environment>.json"
    )
    parser.add_argument("--list-rules", action="store_true", help="list the rules with what they stop, and end")
    return parser


def load_context(path: Path) -> dict[str, Any]:
    """The facts in a context file; a file that holds them under ``context`` (a case) is taken too.

    Raises:
        InputError: not readable, or no mapping.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{path}: can't be read as YAML: {error}") from None
    if isinstance(data, Mapping) and isinstance(data.get("context"), Mapping):
        data = data["context"]
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected a mapping with keys among {', '.join(CONTEXT_KEYS)}")
    for key in data:
        if key not in CONTEXT_KEYS:
            print(f"{path}: no rule reads {key!r}; known keys: {', '.join(CONTEXT_KEYS)}", file=sys.stderr)
    return {str(key): value for key, value in data.items()}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list_rules:
        for rule in rules().values():
            print(f"{rule.name:<30}{rule.severity:<11}{rule.title}")
        return 0
    if not options.files:
        parser.error("name at least one FILE, or - for standard input")
    try:
        configuration = load_configuration(options.config, rules()) if options.config else Configuration()
        context = load_context(options.context) if options.context else {}
        resources = ResourceSet(load(options.files), context)
    except (InputError, ConfigurationError) as error:
        print(error, file=sys.stderr)
        return _BAD_INPUT
    # Expiry dates are calendar days where the team is; the machine's own day is the right one.
    today = datetime.date.today()
    found = findings(rules().values(), resources, configuration, today)
    print(FORMATS[options.format](found))
    return 1 if any(finding.verdict == "violation" for finding in found) else 0


if __name__ == "__main__":
    # The process ends with its answer: collecting garbage among a thousand parsed manifests takes half of its time.
    gc.disable()
    sys.exit(main())
