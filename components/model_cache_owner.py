"""Gives the model cache to the user that the servers run as, where the file system can't do that by itself.

Inputs: claim, namespace, uid and gid, which kind of cache. Outputs: ``done``, what servers depend on. Creates: a Job
for FSx, a DaemonSet for node-local disks, nothing for EFS (its access point sets the owner) or a storage class.
Replacement: another owner makes another Job.
"""

from __future__ import annotations

from typing import Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.manifests.cache_owner import owner_daemon_set_body, owner_job_body
from components.model_cache_args import CacheKind

TYPE: Final = "gpu-inference:index:ModelCacheOwner"
# Scheduling on a node that is just up, pulling busybox, and mounting; the work itself is seconds.
PATIENCE: Final = pulumi.CustomTimeouts(create="15m", update="15m")


class ModelCacheOwner(pulumi.ComponentResource):
    """See the module's text."""

    done: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        kind: CacheKind,
        *,
        claim_name: str,
        namespace: str,
        owner: tuple[int, int],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, {"kind": kind, "uid": owner[0], "gid": owner[1]}, opts)
        # A Job's pods can't be changed, and its name is taken until the old one is gone.
        child = pulumi.ResourceOptions(parent=self, delete_before_replace=True, custom_timeouts=PATIENCE)
        self.done = []
        if kind == "fsx":
            job = owner_job_body(claim_name, namespace, *owner)
            self.done = [kubernetes.batch.v1.Job(name, metadata=job["metadata"], spec=job["spec"], opts=child)]
        elif kind == "node_local":
            daemons = owner_daemon_set_body(claim_name, namespace, *owner)
            self.done = [
                kubernetes.apps.v1.DaemonSet(name, metadata=daemons["metadata"], spec=daemons["spec"], opts=child)
            ]
        self.register_outputs({})
