"""The security group of EFA interfaces must let all traffic in from itself and out to itself, by group id."""

from __future__ import annotations

from collections.abc import Iterator

from policies.aws.security_groups import SECURITY_GROUP, allows_itself, is_efa_group
from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, undecided, violation


def check(resource: Resource, resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Judge groups that stand on an EFA interface, or that are called efa."""
    if not is_efa_group(resource, resources):
        return
    for direction in ("ingress", "egress"):
        allowed = allows_itself(resource, resources, direction)
        if allowed is None:
            yield undecided(f"not decided yet: {direction} rules of this group are not known")
        elif not allowed:
            yield violation(
                f"no {direction} rule lets all protocols {'in from' if direction == 'ingress' else 'out to'} the "
                f"group itself; EFA traffic is matched by group id, a CIDR does not count: add {direction} with "
                "protocol -1 and self",
                direction,
            )


RULE = Rule(
    name="efa-sg-self",
    title="The EFA security group allows itself, in and out",
    source="aws-ofi-nccl #663; EKS user guide, Manage EFA devices (step 1)",
    fix="Add an ingress and an egress rule with protocol -1 whose source and destination are the group itself.",
    applies_to=(SECURITY_GROUP,),
    check=check,
    scope="set",
)
