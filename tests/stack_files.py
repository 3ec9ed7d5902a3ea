"""Stack files as the engine hands them to the program, with changes for a test."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from infra.settings import StackSettings, parse_settings

REPOSITORY = Path(__file__).resolve().parents[1]


def stack_config(stack: str = "sandbox") -> dict[str, Any]:
    """The ``config`` of a stack file of the repository; a fresh copy each time."""
    text = (REPOSITORY / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    return copy.deepcopy(yaml.safe_load(text)["config"])


def flat(config: dict[str, Any]) -> dict[str, str]:
    """The config as PULUMI_CONFIG has it: every value text, structured ones as JSON."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}


def settings(change: Callable[[dict[str, Any]], None] | None = None) -> StackSettings:
    """The sandbox stack's settings; ``change`` may edit its first model server before they are read."""
    config = stack_config()
    if change:
        change(config["gpu-inference:model_servers"][0])
    return parse_settings(flat(config), [], "sandbox")
