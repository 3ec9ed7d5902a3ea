"""/dev/infiniband from the host shows devices that the EFA plugin didn't give: libfabric then gives up on EFA."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.unknowns import at, sequence, text
from policies.workloads.pods import EFA_RESOURCE, POD_OWNERS, pod_templates


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A pod that gets EFA from the device plugin mounts no /dev/infiniband."""
    for pod in pod_templates(resource):
        gets_efa = any(
            container.quantity(EFA_RESOURCE, section)
            for container in pod.containers
            for section in ("limits", "requests")
        )
        for index, row in enumerate(sequence(pod.spec.get("volumes"))):
            path = text(at(row, "hostPath", "path"))
            if not path or not posixpath.normpath(path).startswith("/dev/infiniband"):
                continue
            place = (*pod.spec_path, "volumes", index)
            if gets_efa:
                yield violation(
                    "the pod gets EFA devices from the device plugin and mounts all of the host's "
                    "/dev/infiniband beside them: NCCL falls back to TCP. Remove the volume and its mount.",
                    *place,
                )
            elif resource.group_kind != "DaemonSet.apps":
                yield advice(
                    f"the pod mounts the host's /dev/infiniband: request {EFA_RESOURCE} (or your RDMA device) instead.",
                    *place,
                )


RULE = Rule(
    name="no-dev-infiniband-hostpath",
    title="EFA devices come from the device plugin, not from a hostPath",
    source="aws-samples/aws-do-eks #63",
    fix="Remove the /dev/infiniband hostPath volume and request vpc.amazonaws.com/efa.",
    applies_to=POD_OWNERS,
    check=check,
)
