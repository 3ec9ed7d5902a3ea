"""The functions of ``pulumi_aws`` that the program may call, answered from the imaginary account."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.cloud.account import Account
from sandbox.cloud.errors import AwsError, StandInError
from sandbox.cloud.settings import ProviderSettings
from sandbox.cloud.values import Plain
from sandbox.zones import zone_ids, zone_name

CLUSTER = "aws:eks/cluster:Cluster"

Arguments = Mapping[str, Plain]
Answer = dict[str, Any]


def invoke(token: str, arguments: Arguments, settings: ProviderSettings, account: Account) -> Answer:
    """The answer to one call; ``token`` as the SDK sends it.

    Raises:
        StandInError: the stand-in doesn't play this function.
    """
    known = _FUNCTIONS.get(token)
    if known is None:
        raise StandInError(
            f"The sandbox's stand-in for AWS doesn't play the function {token}. "
            f"It plays: {', '.join(sorted(_FUNCTIONS))}."
        )
    return known(arguments, settings, account)


def _caller_identity(_: Arguments, settings: ProviderSettings, __: Account) -> Answer:
    return {
        "id": settings.account,
        "accountId": settings.account,
        "arn": f"arn:aws:sts::{settings.account}:assumed-role/sandbox/deployer",
        "userId": "AROASANDBOX:deployer",
    }


def _region(_: Arguments, settings: ProviderSettings, __: Account) -> Answer:
    endpoint = f"ec2.{settings.region}.amazonaws.com"
    return {
        "id": settings.region,
        "name": settings.region,
        "region": settings.region,
        "endpoint": endpoint,
        "description": settings.region,
    }


def _partition(_: Arguments, __: ProviderSettings, ___: Account) -> Answer:
    return {"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


def _availability_zones(arguments: Arguments, settings: ProviderSettings, _: Account) -> Answer:
    excluded = {*(arguments.get("excludeZoneIds") or ()), *(arguments.get("excludeNames") or ())}
    ids = [zone for zone in zone_ids(settings.region) if not excluded & {zone, zone_name(zone)}]
    for condition in arguments.get("filters") or ():
        if condition["name"] == "zone-id":
            ids = [zone for zone in ids if zone in condition["values"]]
        elif condition["name"] == "zone-name":
            ids = [zone for zone in ids if zone_name(zone) in condition["values"]]
    return {
        "id": settings.region,
        "names": [zone_name(zone) for zone in ids],
        "zoneIds": ids,
        "groupNames": [settings.region],
        "region": settings.region,
    }


def _availability_zone(arguments: Arguments, settings: ProviderSettings, _: Account) -> Answer:
    wanted = {arguments.get("zoneId"), arguments.get("name")}
    found = next((zone for zone in zone_ids(settings.region) if wanted & {zone, zone_name(zone)}), None)
    if found is None:
        named = ", ".join(str(word) for word in wanted if word)
        raise StandInError(f"There is no availability zone {named} in {settings.region}.")
    name = zone_name(found)
    return {"id": name, "name": name, "zoneId": found, "region": settings.region, "state": "available"}


def _addon_version(arguments: Arguments, settings: ProviderSettings, _: Account) -> Answer:
    version = "v0.0.0-eksbuild.1"  # A stand-in knows no add-on versions; a program that pins its own never asks.
    return {**arguments, "id": arguments["addonName"], "version": version, "region": settings.region}


def _clusters(_: Arguments, settings: ProviderSettings, account: Account) -> Answer:
    return {
        "id": settings.region,
        "names": [cluster.id for cluster in account.of_type(CLUSTER)],
        "region": settings.region,
    }


def _cluster(arguments: Arguments, settings: ProviderSettings, account: Account) -> Answer:
    found = account.get(CLUSTER, str(arguments["name"]))
    if found is None:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {arguments['name']}.")
    return {**found.state, "id": found.id, "region": settings.region}


def _policy_document(arguments: Arguments, _: ProviderSettings, __: Account) -> Answer:
    statements = [_statement(entry) for entry in arguments.get("statements") or ()]
    document = {"Version": arguments.get("version") or "2012-10-17", "Statement": statements}
    text = json.dumps(document, indent=2)
    return {**arguments, "id": hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:10], "json": text}


def _statement(entry: Mapping[str, Any]) -> Answer:
    statement: Answer = {"Effect": entry.get("effect") or "Allow"}
    for ours, theirs in (("sid", "Sid"), ("actions", "Action"), ("resources", "Resource"), ("notActions", "NotAction")):
        if entry.get(ours):
            statement[theirs] = entry[ours]
    if entry.get("principals"):
        statement["Principal"] = {item["type"]: item["identifiers"] for item in entry["principals"]}
    for condition in entry.get("conditions") or ():
        statement.setdefault("Condition", {}).setdefault(condition["test"], {})[condition["variable"]] = condition[
            "values"
        ]
    return statement


_FUNCTIONS: dict[str, Callable[[Arguments, ProviderSettings, Account], Answer]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _availability_zones,
    "aws:index/getAvailabilityZone:getAvailabilityZone": _availability_zone,
    "aws:eks/getAddonVersion:getAddonVersion": _addon_version,
    "aws:eks/getCluster:getCluster": _cluster,
    "aws:eks/getClusters:getClusters": _clusters,
    "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
}
