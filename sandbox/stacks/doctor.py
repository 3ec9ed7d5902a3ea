"""What a run of a stack against AWS needs, asked before it: tools, account, quota, reservations, endpoint, access.

Everything is asked with the AWS CLI, read-only. A question that could not be asked is said to be open, not passed over.
"""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from catalog.facts import UnknownFactError
from catalog.instance_types import instance_type

P_FAMILY_QUOTA = "L-417A185B"
"""Service Quotas' code of "Running On-Demand P instances", in vCPUs; an ODCR counts against it, a block does not."""
TIMEOUT_SECONDS = 30
CONNECT_SECONDS = 5.0

Verdict = Literal["ok", "problem", "not checked"]


@dataclass(frozen=True)
class Finding:
    """The answer to one question."""

    verdict: Verdict
    sentence: str


class CliError(Exception):
    """The AWS CLI could not answer; the text is its own last line."""


Ask = Callable[[Sequence[str]], Any]
"""Runs ``aws`` with these arguments and returns its JSON; raises CliError."""


def ask_aws(arguments: Sequence[str]) -> Any:
    """Ask the AWS CLI on PATH.

    Raises:
        CliError: it isn't there, has no credentials, or AWS refuses.
    """
    command = ["aws", *arguments, "--output", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CliError(str(error)) from error
    if done.returncode:
        raise CliError((done.stderr.strip().splitlines() or ["it failed without a word"])[-1])
    return json.loads(done.stdout or "{}")


def findings(config: Mapping[str, Any], ask: Ask) -> Iterator[Finding]:
    """All answers for a stack file's config, the first that others depend on first."""
    aws = config.get("gpu-inference:aws") or {}
    region = ["--region", str(aws.get("region", ""))]
    try:
        identity = ask(["sts", "get-caller-identity"])
    except CliError as error:
        yield Finding("problem", f"No AWS credentials that work: {error}")
        return
    yield _account(identity, aws.get("allowed_account_ids") or [])
    groups = config.get("gpu-inference:node_groups") or []
    yield from _quota(groups, region, ask)
    for group in groups:
        yield from _reservations(group, region, ask)
    name = ((config.get("gpu-inference:cluster") or {}).get("eks") or {}).get("name")
    if name:
        yield from _cluster(str(name), str(identity["Arn"]), region, ask)


def _account(identity: Mapping[str, Any], allowed: Sequence[str]) -> Finding:
    account = str(identity["Account"])
    if account in map(str, allowed):
        return Finding("ok", f"Credentials are for account {account}, as {identity['Arn']}")
    return Finding("problem", f"Credentials are for account {account}; the stack allows only {', '.join(allowed)}")


def _quota(groups: Sequence[Mapping[str, Any]], region: Sequence[str], ask: Ask) -> Iterator[Finding]:
    try:
        needed = sum(
            group["count"] * instance_type(group["instance_type"]).vcpus
            for group in groups
            if group["instance_type"].startswith("p") and group.get("capacity", {}).get("kind") != "capacity_block"
        )
    except UnknownFactError as error:
        yield Finding("not checked", f"P-family quota: {error}")
        return
    if not needed:
        return
    question = ["service-quotas", "get-service-quota", "--service-code", "ec2", "--quota-code", P_FAMILY_QUOTA]
    try:
        value = int(ask([*question, *region])["Quota"]["Value"])
    except CliError as error:
        yield Finding("not checked", f"P-family quota: {error}")
        return
    sentence = f"P-family quota is {value} vCPUs, the stack's groups need {needed}"
    if value >= needed:
        yield Finding("ok", sentence)
    else:
        yield Finding("problem", f"{sentence}. Ask for more: Service Quotas, {P_FAMILY_QUOTA}, days before")


def _reservations(group: Mapping[str, Any], region: Sequence[str], ask: Ask) -> Iterator[Finding]:
    capacity = group.get("capacity") or {}
    for entry in capacity.get("blocks") or [capacity]:
        reservation = entry.get("reservation_id")
        if not reservation:
            continue
        question = ["ec2", "describe-capacity-reservations", "--capacity-reservation-ids", reservation]
        try:
            [found] = ask([*question, *region])["CapacityReservations"]
        except (CliError, ValueError) as error:
            yield Finding("problem", f"Reservation {reservation} of group {group['name']}: {error}")
            continue
        wrong = list(_contradictions(found, entry, group))
        yield (
            Finding("problem", f"Reservation {reservation} of group {group['name']}: {'; '.join(wrong)}")
            if wrong
            else Finding("ok", f"Reservation {reservation}: {found['TotalInstanceCount']} {found['InstanceType']}")
        )


def _contradictions(found: Mapping[str, Any], entry: Mapping[str, Any], group: Mapping[str, Any]) -> Iterator[str]:
    if found["InstanceType"] != group["instance_type"]:
        yield f"is for {found['InstanceType']}, the group has {group['instance_type']}"
    if found.get("AvailabilityZoneId") != entry.get("zone"):
        yield f"is in {found.get('AvailabilityZoneId')}, the stack says {entry.get('zone')}"
    if found["TotalInstanceCount"] < entry.get("instance_count", 0):
        yield f"holds {found['TotalInstanceCount']} instances, the stack says {entry['instance_count']}"
    if found["State"] not in ("active", "scheduled", "pending"):
        yield f"is {found['State']}"


def _cluster(name: str, deployer: str, region: Sequence[str], ask: Ask) -> Iterator[Finding]:
    try:
        endpoint = ask(["eks", "describe-cluster", "--name", name, *region])["cluster"]["endpoint"]
        entries = ask(["eks", "list-access-entries", "--cluster-name", name, *region])["accessEntries"]
    except CliError as error:
        why = "there is no such cluster yet" if "ResourceNotFound" in str(error) else str(error)
        yield Finding("not checked", f"Endpoint and access of cluster {name}: {why}")
        return
    host = urlsplit(endpoint).hostname or ""
    try:
        with socket.create_connection((host, 443), CONNECT_SECONDS):
            yield Finding("ok", f"The endpoint of {name} answers from here")
    except OSError as error:
        yield Finding(
            "problem",
            f"The endpoint of {name} does not answer from here ({error}). It is private: run from inside the VPC",
        )
    role = principal(deployer)
    if role in entries:
        yield Finding("ok", f"{role} has an access entry in {name}")
    else:
        yield Finding("problem", f"{role} has no access entry in {name}: the Kubernetes half of a run will be refused")


def principal(caller_arn: str) -> str:
    """The IAM principal behind a caller: of an assumed role's session, the role (one without a path)."""
    parts = caller_arn.split(":")
    if parts[5].startswith("assumed-role/"):
        return f"arn:{parts[1]}:iam::{parts[4]}:role/{parts[5].split('/')[1]}"
    return caller_arn
