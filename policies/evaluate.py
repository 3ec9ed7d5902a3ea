"""Runs rules over resources and turns their outcomes into findings: levels, waivers, and what is not decided yet."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from policies.configuration import Configuration
from policies.model import Finding, Outcome, Resource, ResourceSet, Rule, Severity, undecided
from policies.unknowns import NotDecidedError
from policies.waivers import PREFIX, Waiver, WaiverError, annotated_rules, parse_annotation, parse_entry

WAIVER_RULE = "waiver-valid"
_WAIVER_FIX = "Give the waiver a reason, an owner and a day that is still to come, or remove it."


def outcomes(rule: Rule, resource: Resource, resources: ResourceSet, configuration: Configuration) -> list[Outcome]:
    """What one rule says about one resource; an unknown value that it needs gives one ``undecided``."""
    found: list[Outcome] = []
    try:
        found.extend(rule.check(resource, resources, configuration.parameters_of(rule)))
    except NotDecidedError as error:
        found.append(undecided(f"not decided yet: {error}"))
    return found


def findings(
    rules: Iterable[Rule], resources: ResourceSet, configuration: Configuration, today: datetime.date
) -> list[Finding]:
    """Every finding, by file, line and rule. ``today`` decides which waivers have expired."""
    active = [rule for rule in rules if configuration.level(rule) != "disabled"]
    found = list(_invalid_waivers({rule.name for rule in active}, resources, configuration, today))
    for rule in active:
        for resource in resources.of(*rule.applies_to):
            for outcome in outcomes(rule, resource, resources, configuration):
                found.append(finding(rule, resource, outcome, configuration, today))
    return sorted(found, key=lambda item: (item.file, item.line, item.rule, item.message))


def finding(
    rule: Rule, resource: Resource, outcome: Outcome, configuration: Configuration, today: datetime.date
) -> Finding:
    """The finding that an outcome becomes under an environment's level and the object's waivers."""
    severity: Severity = "advisory" if configuration.level(rule) == "advisory" else "mandatory"
    verdict = outcome.verdict
    if verdict == "violation" and severity == "advisory":
        verdict = "advice"
    line = resource.line_of(outcome.path)
    if verdict == "violation" and (waiver := valid_waiver(rule.name, resource, configuration, today)):
        message = f"{outcome.message} (waived until {waiver.until} by {waiver.owner}: {waiver.reason})"
        return Finding(rule.name, "waived", severity, resource.label, message, rule.fix, resource.file, line)
    return Finding(rule.name, verdict, severity, resource.label, outcome.message, rule.fix, resource.file, line)


def valid_waiver(rule: str, resource: Resource, configuration: Configuration, today: datetime.date) -> Waiver | None:
    """The waiver of ``rule`` that holds for ``resource`` today, or None."""
    try:
        annotation = annotated_rules(resource).get(rule)
        if annotation is not None:
            return parse_annotation(rule, annotation, today)
    except (WaiverError, NotDecidedError):
        pass
    for entry in configuration.waivers.get(rule, ()):
        try:
            waiver = parse_entry(rule, entry, today)
        except WaiverError:
            continue
        if entry["object"] == resource.label:
            return waiver
    return None


def annotation_errors(
    known_rules: Iterable[str], resource: Resource, today: datetime.date
) -> Iterator[tuple[str, str]]:
    """Each waiver annotation of a resource that excuses nothing, as its key and the reason."""
    try:
        annotations = annotated_rules(resource)
    except NotDecidedError:
        return  # the rules that they would waive stay as they are
    names = set(known_rules)
    for rule, value in annotations.items():
        if rule not in names:
            yield PREFIX + rule, f"the waiver names no rule: {rule}"
            continue
        try:
            parse_annotation(rule, value, today)
        except WaiverError as error:
            yield PREFIX + rule, str(error)
        except NotDecidedError:
            continue


def _invalid_waivers(
    known_rules: set[str], resources: ResourceSet, configuration: Configuration, today: datetime.date
) -> Iterator[Finding]:
    for resource in resources:
        for key, message in annotation_errors(known_rules, resource, today):
            line = resource.line_of(("metadata", "annotations", key))
            yield Finding(
                WAIVER_RULE, "violation", "mandatory", resource.label, message, _WAIVER_FIX, resource.file, line
            )
    for rule, entries in configuration.waivers.items():
        for entry in entries:
            try:
                parse_entry(rule, entry, today)
            except WaiverError as error:
                label = entry.get("object") if isinstance(entry, dict) else None
                yield Finding(
                    WAIVER_RULE, "violation", "mandatory", str(label or "configuration"), str(error), _WAIVER_FIX, "", 0
                )
