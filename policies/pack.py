"""The CrossGuard pack: the same rules, judged by the Pulumi engine on every resource of a program.

Rules that one object decides become resource policies: a violation stops the resource before it is created. Rules that
look at several resources become stack policies. The pack's servicer is the SDK's with two changes, which is why it is
ours (docs/decisions/policies-pack.md): it reads a resource once instead of once a policy, and only where some rule
applies to its type; and it shows advice, waived findings and what is not decided yet as advisory, also under a
mandatory rule.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import pulumi_policy
from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import policy as sdk
from pulumi_policy.deserialize import serialize_properties

from policies.configuration import WAIVERS_KEY, Configuration
from policies.evaluate import WAIVER_RULE, annotation_errors, finding, outcomes
from policies.loading import plain, pulumi_resource
from policies.model import Finding, Resource, ResourceSet, Rule
from policies.references import with_references
from policies.registry import rules
from policies.unknowns import Unknown

PACK_NAME = "gpu-inference"
_LEVELS = {
    "mandatory": pulumi_policy.EnforcementLevel.MANDATORY,
    "advisory": pulumi_policy.EnforcementLevel.ADVISORY,
}
_SEVERITIES = {"mandatory": pulumi_policy.Severity.HIGH, "advisory": pulumi_policy.Severity.LOW}
Report = Callable[[str, str | None], None]


class Judgements:
    """A report function of the SDK that can also advise: for what never stops a deployment."""

    def __init__(self, violate: Report, advise: Report) -> None:
        self._violate = violate
        self.advise = advise

    def __call__(self, message: str, urn: str | None = None) -> None:
        """Report a violation at the policy's own level."""
        self._violate(message, urn)


def to_resource(args: Any) -> Resource:
    """The resource in the SDK's arguments: proxies unwrapped, values that a preview doesn't know as ``Unknown``."""
    body = plain(serialize_properties(args.props), "")
    return pulumi_resource(args.resource_type, args.name, body, urn=args.urn, id=_id(body))


def _read(
    request: Any, dependencies: Mapping[str, Any] | None = None, stated: Collection[str] | None = None
) -> Resource:
    """The resource of a request, as the engine sends it; ``stated``: the properties that its program gives, if known.

    In a preview the outputs hold every property that the provider may compute, as unknown: what nobody stated and
    nobody knows is as good as absent, but for the id, which others refer to.
    """
    body = plain(json_format.MessageToDict(request.properties), "")
    body = with_references(body, {key: list(row.urns) for key, row in (dependencies or {}).items()})
    if stated is not None:
        body = {
            key: value for key, value in body.items() if key in stated or key == "id" or not isinstance(value, Unknown)
        }
    return pulumi_resource(request.type, request.name, body, urn=request.urn, id=_id(body))


def _id(body: Any) -> str:
    identity = body.get("id") if isinstance(body, dict) else None
    return identity if isinstance(identity, str) else ""


def _configuration(rule: Rule, config: Mapping[str, Any] | None) -> Configuration:
    """What the engine's policy config says about a rule; it has applied the level itself."""
    stated = {key: plain(value, key) for key, value in (config or {}).items()}
    waivers = stated.pop(WAIVERS_KEY, [])
    parameters = {key: value for key, value in stated.items() if key in rule.parameters}
    return Configuration({}, {rule.name: parameters}, {rule.name: waivers if isinstance(waivers, list) else []})


def _report(found: Iterable[Finding], urn: str, report: Any) -> None:
    for item in found:
        if item.verdict == "violation":
            report(f"{item.object}: {item.message}", urn)
        elif isinstance(report, Judgements):
            report.advise(f"{item.verdict}: {item.object}: {item.message}", urn)


def _judge(rule: Rule, resource: Resource, resources: ResourceSet, config: Any, report: Any) -> None:
    configuration = _configuration(rule, config)
    today = datetime.date.today()
    found = [
        finding(rule, resource, outcome, configuration, today)
        for outcome in outcomes(rule, resource, resources, configuration)
    ]
    _report(found, resource.urn, report)


def _resource_validation(rule: Rule) -> Callable[[Any, Any], None]:
    def validate(args: Any, report: Any) -> None:
        resource = getattr(args, "resource", None) or to_resource(args)
        if resource.group_kind in rule.applies_to:
            _judge(rule, resource, ResourceSet([resource]), args.get_config(), report)

    return validate


def _stack_validation(rule: Rule) -> Callable[[Any, Any], None]:
    def validate(args: Any, report: Any) -> None:
        resources = getattr(args, "resource_set", None) or ResourceSet(map(to_resource, args.resources))
        for resource in resources.of(*rule.applies_to):
            _judge(rule, resource, resources, args.get_config(), report)

    return validate


def _validate_waivers(args: Any, report: Any) -> None:
    """The annotations of one resource that should excuse something and don't."""
    resource = getattr(args, "resource", None) or to_resource(args)
    if resource.is_kubernetes:
        for _, message in annotation_errors(rules(), resource, datetime.date.today()):
            report(f"{resource.label}: {message}", resource.urn)


def _schema(rule: Rule) -> Any:
    properties: dict[str, Any] = {
        name: {"type": parameter.kind, "description": parameter.meaning} for name, parameter in rule.parameters.items()
    }
    properties[WAIVERS_KEY] = {"type": "array", "items": {"type": "object"}}
    return pulumi_policy.PolicyConfigSchema(properties=properties)


def policies() -> list[Any]:
    """One policy a rule, and one for waivers, as any ``PolicyPack`` takes them."""
    made: list[Any] = [
        pulumi_policy.ResourceValidationPolicy(
            WAIVER_RULE,
            "A waiver has a reason, an owner and a day that is still to come",
            _validate_waivers,
            pulumi_policy.EnforcementLevel.MANDATORY,
        )
    ]
    for rule in rules().values():
        is_object = rule.scope == "object"
        kind = pulumi_policy.ResourceValidationPolicy if is_object else pulumi_policy.StackValidationPolicy
        made.append(
            kind(
                name=rule.name,
                description=rule.title,
                validate=_resource_validation(rule) if is_object else _stack_validation(rule),
                enforcement_level=_LEVELS[rule.severity],
                config_schema=_schema(rule),
                severity=_SEVERITIES[rule.severity],
                remediation_steps=rule.fix,
            )
        )
    return made


class _ResourceArgs(sdk.ResourceValidationArgs):  # type: ignore[misc]  # the SDK is untyped here
    """The SDK's arguments with the resource already read."""

    resource: Resource


class _StackArgs(sdk.StackValidationArgs):  # type: ignore[misc]
    """The SDK's arguments with the resources already read."""

    resource_set: ResourceSet


class Analyzer(sdk._PolicyAnalyzerServicer):  # type: ignore[misc]
    """The SDK's servicer, reading each resource once; configuration and the pack's description stay the SDK's."""

    def __init__(self, name: str, version: str, made: list[Any], *others: Any) -> None:
        super().__init__(name, version, made, *others)
        self._made = made
        self._stated: dict[str, frozenset[str]] = {}
        self._kinds = {kind for rule in rules().values() for kind in rule.applies_to}

    def Analyze(self, request: Any, _context: Any) -> Any:
        """Judge one resource by the rules that one object decides."""
        self._configure_runtime_settings()
        response = proto.AnalyzeResponse()
        if not request.type.startswith("kubernetes:") and request.type not in self._kinds:
            return response  # no rule has to do with its type: its body is never read
        self._stated[request.urn] = frozenset(request.properties.fields)
        resource = _read(request)
        for policy in self._active(sdk.ResourceValidationPolicy):
            if policy.name in rules() and resource.group_kind not in rules()[policy.name].applies_to:
                continue
            config = self._get_policy_config(policy.name)
            args = _ResourceArgs(request.type, {}, request.urn, request.name, None, None, config, None)
            args.resource = resource
            policy.validate(args, self._judgements(response, policy))
        return response

    def AnalyzeStack(self, request: Any, _context: Any) -> Any:
        """Judge all resources by the rules that look at several."""
        self._configure_runtime_settings()
        response = proto.AnalyzeResponse()
        # Rules look resources of other types up, so all are read but the engine's own.
        rows = [row for row in request.resources if not row.type.startswith("pulumi:")]
        resources = ResourceSet(_read(row, row.propertyDependencies, self._stated.get(row.urn)) for row in rows)
        for policy in self._active(sdk.StackValidationPolicy):
            args = _StackArgs([], self._get_policy_config(policy.name), None)
            args.resource_set = resources
            policy.validate(args, self._judgements(response, policy))
        return response

    def _active(self, kind: type) -> Iterable[Any]:
        for policy in self._made:
            if isinstance(policy, kind) and self._get_enforcement_level(policy) != sdk.EnforcementLevel.DISABLED:
                yield policy

    def _judgements(self, response: Any, policy: Any) -> Judgements:
        def reporter(level: Any) -> Report:
            made: Report = self._create_report_violation(
                response, policy.name, policy.description, level, policy.severity
            )
            return made

        level = self._get_enforcement_level(policy)
        if level == sdk.EnforcementLevel.REMEDIATE:  # the rules remediate nothing: a violation stays one
            level = sdk.EnforcementLevel.MANDATORY
        return Judgements(reporter(level), reporter(sdk.EnforcementLevel.ADVISORY))


def serve() -> None:
    """Serve the pack to the engine; returns when the engine ends it."""
    sdk._PolicyAnalyzerServicer = Analyzer
    pulumi_policy.PolicyPack(PACK_NAME, policies())
