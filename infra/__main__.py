"""Where the engine starts the program: config in, resources out; what is wrong in a stack file ends it as sentences."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path

import pulumi

from infra.admission import AdmissionPlan, levels, plan_admission
from infra.checks import check
from infra.cluster_reachability import unreachable_reason
from infra.notices import notices
from infra.program import compose
from infra.settings import ExistingCluster, SettingsError, StackSettings, parse_settings, stack_file
from policies.configuration import ConfigurationError
from toolchain.installed import crd_files

PROJECT_ROOT = Path(__file__).resolve().parent.parent
# The objects that we create; the operators' own charts bring the rest.
DEFINITIONS = {"keda": ("scaledobjects",), "prometheus-operator": ("podmonitors",)}


def definition_files() -> list[Path]:
    """The CRD files of ``DEFINITIONS``, in a stable order."""
    return [file for module, names in DEFINITIONS.items() for file in crd_files(module) if file.stem.endswith(names)]


def read_settings(stack: str) -> StackSettings:
    """The stack's settings, checked.

    Raises:
        SettingsError: anything wrong in the stack file.
    """
    # The engine hands the whole config over in these two variables; pulumi.Config can't list its keys, and a key that
    # nobody reads is a misspelt one.
    config = json.loads(os.environ.get("PULUMI_CONFIG") or "{}")
    secret_keys = json.loads(os.environ.get("PULUMI_CONFIG_SECRET_KEYS") or "[]") or []
    settings = parse_settings(config, secret_keys, stack)
    problems = check(settings)
    if problems:
        raise SettingsError(stack_file(stack), problems)
    return settings


def admission_plan(settings: StackSettings, stack: str) -> AdmissionPlan | None:
    """What enforces the stack's ``admission`` section, or None where it is off; says which exceptions have expired.

    Raises:
        ConfigurationError: the environment's levels are wrong.
    """
    if not settings.admission.enabled:
        return None
    plan = plan_admission(settings, levels(stack), datetime.date.today())
    for item in plan.expired:
        pulumi.log.warn(
            f"{stack_file(stack)}: gpu-inference:admission.exceptions: {item.rule} for {item.object} in "
            f"{item.namespace} ended on {item.until} and excuses nothing: fix the object, or argue a new date"
        )
    return plan


def main() -> None:
    """Run the program.

    Raises:
        pulumi.RunError: the stack file is wrong, or the cluster can't be reached; nothing has been changed.
    """
    stack = pulumi.get_stack()
    try:
        settings = read_settings(stack)
        admission = admission_plan(settings, stack)
    except (SettingsError, ConfigurationError) as error:
        raise pulumi.RunError(str(error)) from None
    now = datetime.datetime.now(datetime.UTC)
    for notice in notices(settings, now):
        pulumi.log.warn(notice)
    existing = settings.cluster.existing
    kubeconfig = reachable_kubeconfig(existing, stack) if existing else None
    compose(settings, stack, definition_files(), kubeconfig=kubeconfig, admission=admission, now=now)


def reachable_kubeconfig(existing: ExistingCluster, stack: str) -> Path:
    """The path of an existing cluster's kubeconfig, resolved; a preview goes on where the cluster doesn't answer.

    Raises:
        pulumi.RunError: it doesn't answer, and this is no preview.
    """
    kubeconfig = (PROJECT_ROOT / Path(existing.kubeconfig).expanduser()).resolve()
    reason = unreachable_reason(kubeconfig, existing.context)
    if reason:
        advice = "start the sandbox with `make up`" if ".sandbox" in kubeconfig.parts else "check the VPN and the file"
        message = f"{stack_file(stack)}: gpu-inference:cluster.existing: {reason}; {advice}"
        if not pulumi.runtime.is_dry_run():
            raise pulumi.RunError(f"{message}. Nothing was changed.")
        pulumi.log.warn(f"{message}. This preview can't compare with what is there.")
    return kubeconfig


main()
