"""efa-sg-self: all protocols in from and out to the group itself, wherever the rules stand."""

from __future__ import annotations

from typing import Any

from tests.policies.builders import UNKNOWN, Object, judge, launch_template, nics

RULE = "efa-sg-self"
GROUP = "aws:ec2/securityGroup:SecurityGroup/efa"
ALL_SELF = {"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}
ALL_CIDR = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}


def security_group(ingress: Any, egress: Any, name: str = "efa", **properties: Any) -> Object:
    body = {"vpcId": "vpc-1", "ingress": ingress, "egress": egress, **properties}
    return {"type": "aws:ec2/securityGroup:SecurityGroup", "name": name, "properties": body}


def vpc_rule(direction: str, owner: Any = "efa", peer: Any = "efa", protocol: Any = "-1") -> Object:
    properties = {"securityGroupId": owner, "referencedSecurityGroupId": peer, "ipProtocol": protocol}
    return {
        "type": f"aws:vpc/securityGroup{direction}Rule:SecurityGroup{direction}Rule",
        "name": direction,
        "properties": properties,
    }


def classic_rule(direction: str, **properties: Any) -> Object:
    body = {"type": direction, "securityGroupId": "efa", "protocol": "-1", "fromPort": 0, "toPort": 0, **properties}
    return {"type": "aws:ec2/securityGroupRule:SecurityGroupRule", "name": direction, "properties": body}


def test_both_directions_by_self_pass_in_each_form() -> None:
    assert judge(RULE, security_group([ALL_SELF], [ALL_SELF])) == []
    assert (
        judge(RULE, security_group([{**ALL_SELF, "protocol": -1}], [{**ALL_SELF, "protocol": "all", "self": "true"}]))
        == []
    )
    by_id = {"protocol": "-1", "fromPort": 0, "toPort": 0, "securityGroups": ["efa"]}
    assert judge(RULE, security_group([by_id], [by_id])) == []
    assert judge(RULE, security_group([], []), vpc_rule("Ingress"), vpc_rule("Egress")) == []
    classic = classic_rule("ingress", self=True), classic_rule("egress", sourceSecurityGroupId="efa")
    assert judge(RULE, security_group([], []), *classic) == []
    assert judge(RULE, security_group([ALL_SELF], []), vpc_rule("Egress")) == []


def test_a_cidr_or_a_single_protocol_does_not_count() -> None:
    assert judge(RULE, security_group([ALL_SELF], [ALL_CIDR])) == [f"violation {GROUP}"]
    assert judge(RULE, security_group([{**ALL_SELF, "protocol": "tcp"}], [ALL_SELF])) == [f"violation {GROUP}"]
    assert judge(RULE, security_group([], [])) == [f"violation {GROUP}"] * 2
    assert judge(RULE, security_group([ALL_SELF], []), vpc_rule("Egress", peer="other")) == [f"violation {GROUP}"]
    assert judge(RULE, security_group([ALL_SELF], []), vpc_rule("Egress", protocol="tcp")) == [f"violation {GROUP}"]


def test_it_finds_the_group_by_the_efa_interface_that_it_stands_on() -> None:
    interfaces = nics((0, 0, "efa"), securityGroups=["fabric"])
    template = launch_template(networkInterfaces=interfaces)
    found = judge(RULE, security_group([ALL_SELF], [ALL_CIDR], name="fabric"), template)
    assert found == ["violation aws:ec2/securityGroup:SecurityGroup/fabric"]
    # Beside a group that allows itself, the cluster's own group needs no such rule.
    both = launch_template(networkInterfaces=nics((0, 0, "efa"), securityGroups=["cluster", "efa"]))
    own = security_group([ALL_SELF], [ALL_SELF])
    assert judge(RULE, own, security_group([], [ALL_CIDR], name="cluster"), both) == []


def test_references_that_are_not_known_yet() -> None:
    rules = vpc_rule("Ingress", UNKNOWN, UNKNOWN), vpc_rule("Egress", UNKNOWN, UNKNOWN)
    # The only group there is must be the one that is meant.
    assert judge(RULE, security_group([], []), *rules) == []
    other = security_group([], [], name="web")
    assert judge(RULE, security_group([], []), other, *rules) == [f"undecided {GROUP}"] * 2
    assert judge(RULE, security_group(UNKNOWN, [ALL_SELF])) == [f"undecided {GROUP}"]


def test_groups_without_efa_are_not_its_business() -> None:
    assert judge(RULE, security_group([], [ALL_CIDR], name="web")) == []
    assert judge(RULE, security_group([], [], name="cafeface")) == []
