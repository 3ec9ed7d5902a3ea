"""What a killed run was creating is looked for where it would be."""

from __future__ import annotations

import json
from pathlib import Path

from sandbox.cloud.account import Account, Resource
from sandbox.stacks.pending_creates import (
    has_pending_operations,
    pending_creates,
    pending_in_account,
    pending_urns,
    with_adopted,
)

VPC = "urn:pulumi:dev::p::aws:ec2/vpc:Vpc::network"
KEY = "urn:pulumi:dev::p::aws:kms/key:Key::cluster"
NAMESPACE = "urn:pulumi:dev::p::kubernetes:core/v1:Namespace::ns"


def exported(*operations: tuple[str, str, dict[str, object]]) -> str:
    pending = [{"type": kind, "resource": {"urn": urn, "inputs": inputs}} for kind, urn, inputs in operations]
    return json.dumps({"deployment": {"pending_operations": pending}})


def test_aws_resources_are_found_in_the_account_by_their_urn(tmp_path: Path) -> None:
    account = Account(tmp_path / "account.sqlite")
    account.put(Resource("aws:ec2/vpc:Vpc", "vpc-1", VPC))
    state = exported(("creating", VPC, {}), ("creating", KEY, {}), ("updating", VPC, {}))
    assert pending_urns(state) == [VPC, KEY]
    assert pending_in_account(state, account) == {VPC: "vpc-1"}


def test_kubernetes_objects_are_known_by_namespace_and_name() -> None:
    state = exported(("creating", NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}))
    assert [create.object_id for create in pending_creates(state)] == ["ns"]
    assert has_pending_operations(state)


def test_what_came_to_be_is_taken_in_after_what_it_depends_on_and_the_rest_is_dropped() -> None:
    state = json.loads(exported(("creating", VPC, {"cidrBlock": "10.0.0.0/16"}), ("creating", KEY, {})))
    state["deployment"]["resources"] = [{"urn": "stack"}]
    adopted = json.loads(with_adopted(json.dumps(state), {VPC: "vpc-1"}))["deployment"]
    assert adopted["resources"] == [
        {"urn": "stack"},
        {"urn": VPC, "inputs": {"cidrBlock": "10.0.0.0/16"}, "id": "vpc-1"},
    ]
    assert "pending_operations" not in adopted


def test_a_run_that_ended_well_left_nothing() -> None:
    assert not has_pending_operations(json.dumps({"deployment": {}}))
    assert pending_urns(json.dumps({"deployment": {"pending_operations": None}})) == []
