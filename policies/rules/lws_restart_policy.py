"""A multi-node engine is one failure domain: when one pod dies, the group must start again together."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import text, whole

# "Default" is the deprecated name of "None" (LeaderWorkerSet API v1).
RESTARTS_ALONE = ("None", "Default")


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A LeaderWorkerSet of more than one pod a group recreates the group."""
    template = ("spec", "leaderWorkerTemplate")
    size = whole(resource.at(*template, "size"))
    policy = text(resource.at(*template, "restartPolicy"))
    # Without a policy, LeaderWorkerSet recreates the group.
    if policy in RESTARTS_ALONE and size is not None and size > 1:
        yield violation(
            f"restartPolicy {policy} restarts one pod of {size}: the others stay in the old session and the "
            "engine never forms again. Write restartPolicy: RecreateGroupOnPodRestart.",
            *template,
            "restartPolicy",
        )


RULE = Rule(
    name="lws-restart-policy",
    title="A multi-node engine restarts as one group",
    source="aws-samples/aws-do-eks #69",
    fix="Set spec.leaderWorkerTemplate.restartPolicy to RecreateGroupOnPodRestart.",
    applies_to=("LeaderWorkerSet.leaderworkerset.x-k8s.io",),
    check=check,
)
