"""The ValidatingAdmissionPolicy and its binding for each admission rule. Pure: rules and levels in, dicts out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from policies.admission.cel import one_line, strings
from policies.admission.exceptions import CONFIG_MAP_NAME, not_excepted
from policies.admission.kinds import resource_rules
from policies.admission.model import AdmissionRule
from policies.admission.variables import needed
from policies.configuration import Configuration

# What these make has been judged at its owner: a Deployment's pods, a group's StatefulSets, a ScaledObject's HPA.
# Names as the control plane (--use-service-account-credentials, as EKS runs it) and the operators' charts give them.
CONTROLLERS: Final = (
    "system:serviceaccount:kube-system:deployment-controller",
    "system:serviceaccount:kube-system:replicaset-controller",
    "system:serviceaccount:kube-system:statefulset-controller",
    "system:serviceaccount:kube-system:daemon-set-controller",
    "system:serviceaccount:kube-system:job-controller",
    "system:serviceaccount:kube-system:cronjob-controller",
    "system:serviceaccount:lws-system:lws-controller-manager",
    "system:serviceaccount:keda:keda-operator",
)


NAMESPACE_LABEL: Final = ("policies.gpu-inference/admission", "enforced")
"""Who puts this label on a namespace has its objects judged."""


def policy_name(rule: str) -> str:
    """The name of a rule's policy and of its binding."""
    return f"{rule}.policies.gpu-inference"


def policy_body(admission_rule: AdmissionRule, configuration: Configuration) -> dict[str, Any]:
    """The ValidatingAdmissionPolicy of a rule."""
    rule = admission_rule.rule
    faults = one_line(admission_rule.expression(configuration.parameters_of(rule)))
    variables = [*needed(faults), ("faults", faults)]
    return {
        "metadata": {
            "name": policy_name(rule.name),
            "annotations": {"policies.gpu-inference/title": rule.title, "policies.gpu-inference/source": rule.source},
        },
        "spec": {
            # An error of ours, or a missing list of exceptions, must not open the door.
            "failurePolicy": "Fail",
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {"resourceRules": resource_rules(rule.applies_to)},
            "matchConditions": [
                {
                    "name": "not-made-by-a-controller",
                    "expression": f"!(request.userInfo.username in {strings(CONTROLLERS)})",
                },
                {
                    # What was there before the policy may still be labelled, scaled and deleted.
                    "name": "spec-is-new",
                    "expression": "request.operation == 'CREATE' || object.spec != oldObject.spec",
                },
                {"name": "not-excepted", "expression": not_excepted(rule.name)},
            ],
            "variables": [{"name": name, "expression": text} for name, text in variables],
            "validations": [
                {
                    "expression": "variables.faults.size() == 0",
                    "messageExpression": "variables.faults.join(' ')",
                    "message": rule.fix,
                }
            ],
        },
    }


def binding_body(
    admission_rule: AdmissionRule, configuration: Configuration, exceptions_namespace: str
) -> dict[str, Any]:
    """The ValidatingAdmissionPolicyBinding of a rule, for the namespaces that carry ``NAMESPACE_LABEL``.

    A mandatory rule refuses, an advisory one warns whoever applies the object.
    """
    name = policy_name(admission_rule.rule.name)
    advisory = configuration.level(admission_rule.rule) == "advisory"
    return {
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Warn"] if advisory else ["Deny"],
            "paramRef": {
                "name": CONFIG_MAP_NAME,
                "namespace": exceptions_namespace,
                # Without the list nobody knows what is excepted.
                "parameterNotFoundAction": "Deny",
            },
            "matchResources": {"namespaceSelector": {"matchLabels": dict([NAMESPACE_LABEL])}},
        },
    }


def bodies(
    admission_rules: Iterable[AdmissionRule],
    configuration: Configuration,
    exceptions_namespace: str,
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Policy and binding of each rule that the environment has not disabled."""
    return [
        (policy_body(item, configuration), binding_body(item, configuration, exceptions_namespace))
        for item in admission_rules
        if configuration.level(item.rule) != "disabled"
    ]
