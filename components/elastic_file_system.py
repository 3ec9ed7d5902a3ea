"""EFS for the model cache: in every zone of the private subnets, at once.

Inputs: the ``efs`` section, subnets by zone, the VPC and its network, the owner of the files (uid and gid). Outputs:
``source`` (what a volume mounts), ``mounted`` (to depend on). Creates: a security group for NFS, the encrypted file
system, a mount target a zone, and an access point that gives every file to the servers' user, so that a non-root server
can write without an ownership Job. Replacement: the zones' subnets; encryption and the owner are for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.manifests.cache_volumes import elastic_source
from components.model_cache_args import ElasticArgs
from components.security_group_rules import NFS_PORT, tcp_from_networks

TYPE: Final = "gpu-inference:index:ElasticFileSystem"


def access_point_body(uid: int, gid: int) -> dict[str, Any]:
    """The plain inputs of the access point: one folder, and one user for whoever comes through it."""
    return {
        "posix_user": {"uid": uid, "gid": gid},
        "root_directory": {
            "path": "/model-cache",
            "creation_info": {"owner_uid": uid, "owner_gid": gid, "permissions": "0755"},
        },
    }


class ElasticFileSystem(pulumi.ComponentResource):
    """See the module's text."""

    source: dict[str, Any]
    mounted: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        args: ElasticArgs,
        *,
        vpc_id: pulumi.Input[str],
        vpc_cidr: str,
        subnet_ids: Mapping[str, pulumi.Input[str]],
        owner: tuple[int, int],
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, args.plain(), opts)
        child = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            name,
            vpc_id=vpc_id,
            description="NFS to the model cache",
            ingress=tcp_from_networks(NFS_PORT, [vpc_cidr], "NFS from the VPC"),
            opts=child,
        )
        file_system = aws.efs.FileSystem(
            name,
            encrypted=True,
            throughput_mode=args.throughput_mode,
            tags={"Name": name},
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect)),
        )
        self.mounted = [
            aws.efs.MountTarget(
                f"{name}-{zone}",
                file_system_id=file_system.id,
                subnet_id=subnet_id,
                security_groups=[group.id],
                opts=child,
            )
            for zone, subnet_id in subnet_ids.items()
        ]
        point = aws.efs.AccessPoint(name, file_system_id=file_system.id, **access_point_body(*owner), opts=child)
        self.source = elastic_source(file_system.id, point.id)
        self.register_outputs({"file_system_id": file_system.id})
