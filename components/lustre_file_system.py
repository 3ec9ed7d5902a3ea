"""FSx for Lustre for the model cache: in the GPUs' zone, filled from S3 by choice.

Inputs: size in GiB, the ``fsx`` section, one subnet, the VPC, the nodes' security group. Outputs: ``source`` (what a
volume mounts), ``file_system``. Creates: a security group with Lustre's ports, the same ports on the nodes' group, the
file system, and a data repository association where ``s3_import`` is set.
Replacement: nearly everything but size and throughput replaces the file system (pulumi-aws follows Terraform there), so
it is protected where the stack protects. Without S3 behind it, what it loses is fetched from the hub again.
Facts: facts/aws.md section 4. Version 2.15: AL2023's client can't mount the default, 2.10.
"""

from __future__ import annotations

from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.manifests.cache_volumes import lustre_source
from components.model_cache_args import LustreArgs, S3Import
from components.security_group_rules import LUSTRE_PORTS, tcp_with_group

TYPE: Final = "gpu-inference:index:LustreFileSystem"
LUSTRE_VERSION: Final = "2.15"


def file_system_body(storage_gib: int, args: LustreArgs) -> dict[str, Any]:
    """The plain inputs of the ``aws.fsx.LustreFileSystem``. No backup: everything in it can be fetched again."""
    return {
        "deployment_type": "PERSISTENT_2",
        "storage_type": "SSD",
        "storage_capacity": storage_gib,
        "per_unit_storage_throughput": args.throughput_mb_per_second_per_tib,
        "file_system_type_version": LUSTRE_VERSION,
        "automatic_backup_retention_days": 0,
        "skip_final_backup": True,
    }


def import_body(s3: S3Import) -> dict[str, Any]:
    """The plain inputs of the data repository association: new and changed objects come in, nothing goes out.

    No export: with one, cleaning the cache would delete the weights in the bucket (facts/aws.md section 11).
    """
    return {
        "data_repository_path": s3.path,
        "file_system_path": s3.file_system_path,
        "batch_import_meta_data_on_create": True,
        "s3": {"auto_import_policy": {"events": ["NEW", "CHANGED"]}},
    }


class LustreFileSystem(pulumi.ComponentResource):
    """See the module's text."""

    source: dict[str, Any]
    file_system: aws.fsx.LustreFileSystem

    def __init__(
        self,
        name: str,
        args: LustreArgs,
        *,
        storage_gib: int,
        vpc_id: pulumi.Input[str],
        subnet_id: pulumi.Input[str],
        node_security_group_id: pulumi.Input[str],
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, {**args.plain(), "storage_gib": storage_gib}, opts)
        child = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            name,
            vpc_id=vpc_id,
            description="Lustre between GPU nodes and the model cache",
            ingress=tcp_with_group(LUSTRE_PORTS, node_security_group_id, "Lustre in", itself=True),
            egress=tcp_with_group(LUSTRE_PORTS, node_security_group_id, "Lustre out", itself=True),
            opts=child,
        )
        # The servers call back: the nodes' own group must let them in. It is EKS's, so the rules stand beside it.
        for first, last in LUSTRE_PORTS:
            aws.vpc.SecurityGroupIngressRule(
                f"{name}-nodes-{first}",
                security_group_id=node_security_group_id,
                referenced_security_group_id=group.id,
                ip_protocol="tcp",
                from_port=first,
                to_port=last,
                description="Lustre servers of the model cache",
                opts=child,
            )
        self.file_system = aws.fsx.LustreFileSystem(
            name,
            subnet_ids=subnet_id,
            security_group_ids=[group.id],
            **file_system_body(storage_gib, args),
            tags={"Name": name},
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect)),
        )
        if args.s3_import:
            aws.fsx.DataRepositoryAssociation(
                name, file_system_id=self.file_system.id, **import_body(args.s3_import), opts=child
            )
        self.source = lustre_source(self.file_system.id, self.file_system.dns_name, self.file_system.mount_name)
        self.register_outputs({"file_system_id": self.file_system.id})
