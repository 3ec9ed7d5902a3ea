"""The table of types agrees with the SDK and with AWS's schemas; a row that doesn't would check or replace nothing."""

from __future__ import annotations

import re

import pytest

from sandbox.cloud.cloudformation import schema
from sandbox.cloud.errors import StandInError
from sandbox.cloud.resource_types import automatic_name, fill, resource_type, resource_types
from sandbox.cloud.sdk_types import computed_names, input_fields, output_names

TOKENS = sorted(resource_types())


@pytest.mark.parametrize("token", TOKENS)
def test_what_a_row_names_the_sdk_has(token: str) -> None:
    row, inputs, outputs = resource_type(token), input_fields(token), output_names(token)
    assert {path.partition(".")[0] for path in row.replaces} <= set(inputs)
    assert {*row.outputs, *row.nested_outputs, *row.new_on_update} <= set(outputs)
    assert row.name is None or row.name in inputs
    assert row.arn is None or "arn" in outputs
    renamed = row.cloudformation.names if row.cloudformation else {}
    assert {path.partition(".")[0] for path in renamed} <= set(inputs)


@pytest.mark.parametrize("token", [token for token in TOKENS if resource_type(token).cloudformation])
def test_every_renamed_word_is_in_the_schema(token: str) -> None:
    row = resource_type(token).cloudformation
    assert row is not None
    words = set(re.findall(r"'(\w+)':", str(schema(row.type))))
    assert set(row.names.values()) <= words
    assert row.below is None or row.below in words


# CloudFormation replaces for these, the Terraform provider doesn't: it takes the words below as updates in place.
IN_PLACE = {
    "Cluster.encryptionConfig",  # only taking it away replaces (eks/cluster.go, CustomizeDiff)
    "FlowLog.tagFieldSpecifications",
    "PlacementGroup.tags",
    "VpcEndpoint.dnsOptions",
    *(
        f"SecurityGroup{way}Rule.{name}"  # ModifySecurityGroupRules
        for way in ("Ingress", "Egress")
        for name in (
            "cidrIpv4",
            "cidrIpv6",
            "fromPort",
            "ipProtocol",
            "prefixListId",
            "referencedSecurityGroupId",
            "toPort",
        )
    ),
}


def test_cloudformations_second_opinion_differs_only_where_it_is_known_to() -> None:
    differing = set()
    for token in TOKENS:
        row = resource_type(token)
        if row.cloudformation is None:
            continue
        create_only = {path.split("/")[2] for path in schema(row.cloudformation.type).get("createOnlyProperties", ())}
        for name in input_fields(token):
            word = row.cloudformation.names.get(name, name[:1].upper() + name[1:])
            if word in create_only and name not in {path.partition(".")[0] for path in row.replaces}:
                differing.add(f"{token.rpartition(':')[2]}.{name}")
    assert differing == IN_PLACE


def test_an_unknown_type_is_refused_with_what_to_do() -> None:
    with pytest.raises(StandInError, match=r"doesn't play aws:x/y:Y.*resource_types.yaml"):
        resource_type("aws:x/y:Y")


def test_a_sub_path_of_a_replacing_property_replaces_too() -> None:
    row = resource_type("aws:eks/nodeGroup:NodeGroup")
    assert row.forces_replacement("launchTemplate.id")
    assert not row.forces_replacement("launchTemplate.version")
    assert row.forces_replacement("remoteAccess.ec2SshKey")
    assert row.forces_replacement("region")
    assert not row.forces_replacement("scalingConfig.desiredSize")


def test_templates_are_filled_at_any_depth_and_ids_differ() -> None:
    first, second = (fill({"a": ["sg-{hex}"], "n": 1, "id": "{id}"}, {"id": "vpc-1"}) for _ in range(2))
    assert re.fullmatch(r"sg-[0-9a-f]{17}", first["a"][0])
    assert first["a"] != second["a"]
    assert (first["n"], first["id"]) == (1, "vpc-1")


def test_automatic_names_are_stable_for_a_seed() -> None:
    row = resource_type("aws:kms/alias:Alias")
    assert automatic_name(row, "cluster", b"\x12\x34\x56\x78") == "alias/cluster-1234567"


def test_computed_are_the_outputs_that_are_never_absent() -> None:
    computed = computed_names("aws:eks/nodeGroup:NodeGroup")
    assert {"arn", "diskSize", "status"} <= computed
    assert not {"remoteAccess", "taints"} & computed
