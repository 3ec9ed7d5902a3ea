"""From a stack's ``admission`` section to the objects that enforce it, and the exceptions that no longer hold."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.settings import Problem, StackSettings
from policies.admission.exceptions import AdmissionException, config_map_body
from policies.admission.objects import bodies
from policies.admission.registry import admission_rules
from policies.configuration import Configuration, load_configuration
from policies.registry import rules

_LEVELS_FOLDER = Path(__file__).resolve().parent.parent / "policies" / "config"


@dataclass(frozen=True)
class AdmissionPlan:
    """The objects of a stack's admission: the ConfigMap of exceptions, and policy and binding of each rule."""

    exceptions: dict[str, Any]
    policies: list[tuple[dict[str, Any], dict[str, Any]]]
    expired: tuple[AdmissionException, ...]
    """Left out of ``exceptions``: their last day has passed."""


def levels(stack: str) -> Configuration:
    """The levels and parameters that the policy pack has in this environment; defaults where there is no file.

    Raises:
        ConfigurationError: the file is wrong.
    """
    path = _LEVELS_FOLDER / f"{stack}.json"
    return load_configuration(path, rules()) if path.is_file() else Configuration()


def plan_admission(settings: StackSettings, configuration: Configuration, today: datetime.date) -> AdmissionPlan:
    """What enforces the stack's ``admission`` section today. CEL has no clock: expiry is decided here, at each run."""
    args = settings.admission
    stated = [
        AdmissionException(
            rule=item.rule,
            namespace=item.namespace or settings.namespace.name,
            object=item.object,
            reason=item.reason,
            owner=item.owner,
            until=item.until,
        )
        for item in args.exceptions
    ]
    return AdmissionPlan(
        config_map_body(args.exceptions_namespace, [item for item in stated if item.until >= today]),
        bodies(admission_rules().values(), configuration, args.exceptions_namespace),
        tuple(item for item in stated if item.until < today),
    )


def check_admission(settings: StackSettings) -> Iterator[Problem]:
    """What the stack's ``admission`` section says that can't be."""
    args = settings.admission
    if args.exceptions_namespace == settings.namespace.name:
        message = (
            f"{args.exceptions_namespace!r} is the serving namespace, where authors of workloads may write; name one "
            "that only administrators may write"
        )
        yield Problem("admission.exceptions_namespace", message)
    for index, item in enumerate(args.exceptions):
        if item.rule not in admission_rules():
            message = f"{item.rule!r} is no rule that admission enforces; there are: {', '.join(admission_rules())}"
            yield Problem(f"admission.exceptions[{index}].rule", message)
