"""The VPC: public, private and GPU subnets, NAT, endpoints, and the security group of EFA.

Inputs: the stack's ``network`` section, the zones of its GPU groups, the cluster's name and region. Outputs:
``vpc_id``, ``public_subnet_ids`` and ``private_subnet_ids`` in the order of ``zones``, ``gpu_subnet_ids`` and
``private_subnet_ids_by_zone`` by zone id, ``efa_security_group_id``.
Creates: VPC, its default security group (emptied), internet gateway, subnets, NAT gateways (one, or one a zone), route
tables, the S3 gateway endpoint, interface endpoints and flow logs by choice, one security group for EFA.
Raises: nothing of its own; the plan is checked with the settings. Replacement: ``cidr`` replaces everything; a zone
that comes or goes touches its own subnets only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components import iam_documents
from components.network_args import FlowLogs, NetworkArgs
from components.network_plan import PlannedSubnet, nat_zone, plan_subnets
from components.security_group_rules import HTTPS_PORT, all_to_itself, tcp_from_networks

TYPE: Final = "gpu-inference:index:Network"
# How the load balancer controller finds its subnets.
_ROLE_TAGS: Final = {"public": "kubernetes.io/role/elb", "private": "kubernetes.io/role/internal-elb"}
_EVERYWHERE: Final = "0.0.0.0/0"


def subnet_tags(subnet: PlannedSubnet, network: str) -> dict[str, str]:
    """The tags of a subnet: a name for people, and its role for load balancers."""
    tags = {"Name": f"{network}-{subnet.name}"}
    if subnet.kind in _ROLE_TAGS:
        tags[_ROLE_TAGS[subnet.kind]] = "1"
    return tags


def flow_logs_policy(log_group_arn: str) -> dict[str, Any]:
    """What the flow log service may do: write into its own log group."""
    actions = ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"]
    return iam_documents.allow(actions, [log_group_arn, f"{log_group_arn}:*"])


class Network(pulumi.ComponentResource):
    """See the module's text."""

    vpc_id: pulumi.Output[str]
    public_subnet_ids: list[pulumi.Output[str]]
    private_subnet_ids: list[pulumi.Output[str]]
    private_subnet_ids_by_zone: dict[str, pulumi.Output[str]]
    gpu_subnet_ids: dict[str, pulumi.Output[str]]
    efa_security_group_id: pulumi.Output[str]
    routes: list[pulumi.Resource]
    """What nodes need before they can reach anything: depend on it."""

    def __init__(
        self,
        name: str,
        args: NetworkArgs,
        *,
        gpu_zones: Sequence[str],
        cluster_name: str,
        region: str,
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(TYPE, name, {**args.plain(), "gpu_zones": list(gpu_zones)}, opts)
        self._name = name
        self._label = cluster_name
        self._region = region
        self._child = pulumi.ResourceOptions(parent=self)
        vpc = aws.ec2.Vpc(
            name,
            cidr_block=args.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags={"Name": cluster_name},
            opts=pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(protect=protect)),
        )
        self.vpc_id = vpc.id
        # No rule at all: what forgets to name a group reaches nothing, instead of everything.
        aws.ec2.DefaultSecurityGroup(f"{name}-default", vpc_id=vpc.id, opts=self._child)

        planned = plan_subnets(args.cidr, args.zones, gpu_zones)
        subnets = {subnet.name: self._subnet(subnet) for subnet in planned}
        self.routes = self._routes(args, planned, subnets)
        by_kind = {
            kind: {entry.zone_id: subnets[entry.name].id for entry in planned if entry.kind == kind}
            for kind in ("public", "private", "gpu")
        }
        self.public_subnet_ids = list(by_kind["public"].values())
        self.private_subnet_ids = list(by_kind["private"].values())
        self.private_subnet_ids_by_zone = by_kind["private"]
        self.gpu_subnet_ids = by_kind["gpu"]

        self._interface_endpoints(args)
        if args.flow_logs:
            self._flow_logs(args.flow_logs)
        efa = aws.ec2.SecurityGroup(
            f"{name}-efa",
            vpc_id=vpc.id,
            description="EFA between GPU nodes: everything, among themselves only",
            ingress=all_to_itself("EFA in"),
            egress=all_to_itself("EFA out"),
            tags={"Name": f"{cluster_name}-efa"},
            opts=self._child,
        )
        self.efa_security_group_id = efa.id
        self.register_outputs({"vpc_id": self.vpc_id, "efa_security_group_id": self.efa_security_group_id})

    def _subnet(self, subnet: PlannedSubnet) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            f"{self._name}-{subnet.name}",
            vpc_id=self.vpc_id,
            availability_zone_id=subnet.zone_id,
            cidr_block=subnet.cidr,
            map_public_ip_on_launch=False,
            tags=subnet_tags(subnet, self._label),
            opts=self._child,
        )

    def _routes(
        self, args: NetworkArgs, planned: Sequence[PlannedSubnet], subnets: dict[str, aws.ec2.Subnet]
    ) -> list[pulumi.Resource]:
        """Ways out: public subnets by the internet gateway, the others by NAT, and to S3 without either."""
        gateway = aws.ec2.InternetGateway(self._name, vpc_id=self.vpc_id, tags=self._tags("internet"), opts=self._child)
        made: list[pulumi.Resource] = []
        tables = {"public": self._route_table("public")}
        made.append(
            aws.ec2.Route(
                f"{self._name}-public",
                route_table_id=tables["public"].id,
                destination_cidr_block=_EVERYWHERE,
                gateway_id=gateway.id,
                opts=self._child,
            )
        )
        for zone in dict.fromkeys(nat_zone(zone, args.zones, args.nat_gateways) for zone in args.zones):
            tables[zone] = self._route_table(f"nat-{zone}")
            made.append(self._way_through_nat(zone, subnets[f"public-{zone}"], tables[zone], gateway))
        for subnet in planned:
            key = "public" if subnet.kind == "public" else nat_zone(subnet.zone_id, args.zones, args.nat_gateways)
            made.append(
                aws.ec2.RouteTableAssociation(
                    f"{self._name}-{subnet.name}",
                    route_table_id=tables[key].id,
                    subnet_id=subnets[subnet.name].id,
                    opts=self._child,
                )
            )
        made.append(
            # Free, and keeps weights and image layers off the NAT gateway's bill (facts/aws.md section 7 number 26).
            aws.ec2.VpcEndpoint(
                f"{self._name}-s3",
                vpc_id=self.vpc_id,
                service_name=f"com.amazonaws.{self._region}.s3",
                vpc_endpoint_type="Gateway",
                route_table_ids=[table.id for table in tables.values()],
                tags=self._tags("s3"),
                opts=self._child,
            )
        )
        return made

    def _route_table(self, name: str) -> aws.ec2.RouteTable:
        return aws.ec2.RouteTable(f"{self._name}-{name}", vpc_id=self.vpc_id, tags=self._tags(name), opts=self._child)

    def _way_through_nat(
        self, zone: str, public: aws.ec2.Subnet, table: aws.ec2.RouteTable, gateway: aws.ec2.InternetGateway
    ) -> pulumi.Resource:
        after_gateway = pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(depends_on=[gateway]))
        address = aws.ec2.Eip(
            f"{self._name}-nat-{zone}", domain="vpc", tags=self._tags(f"nat-{zone}"), opts=after_gateway
        )
        nat = aws.ec2.NatGateway(
            f"{self._name}-{zone}",
            allocation_id=address.id,
            subnet_id=public.id,
            tags=self._tags(f"nat-{zone}"),
            opts=after_gateway,
        )
        return aws.ec2.Route(
            f"{self._name}-nat-{zone}",
            route_table_id=table.id,
            destination_cidr_block=_EVERYWHERE,
            nat_gateway_id=nat.id,
            opts=self._child,
        )

    def _interface_endpoints(self, args: NetworkArgs) -> None:
        if not args.interface_endpoints:
            return
        group = aws.ec2.SecurityGroup(
            f"{self._name}-endpoints",
            vpc_id=self.vpc_id,
            description="AWS APIs inside the VPC",
            ingress=tcp_from_networks(HTTPS_PORT, [args.cidr], "HTTPS from the VPC"),
            tags=self._tags("endpoints"),
            opts=self._child,
        )
        for service in args.interface_endpoints:
            aws.ec2.VpcEndpoint(
                f"{self._name}-{service}",
                vpc_id=self.vpc_id,
                service_name=f"com.amazonaws.{self._region}.{service}",
                vpc_endpoint_type="Interface",
                private_dns_enabled=True,
                subnet_ids=self.private_subnet_ids,
                security_group_ids=[group.id],
                tags=self._tags(service),
                opts=self._child,
            )

    def _flow_logs(self, flow_logs: FlowLogs) -> None:
        group = aws.cloudwatch.LogGroup(
            f"{self._name}-flow-logs",
            name=f"/aws/vpc/{self._label}/flow-logs",
            retention_in_days=flow_logs.retention_days,
            opts=self._child,
        )
        role = aws.iam.Role(
            f"{self._name}-flow-logs",
            assume_role_policy=iam_documents.as_text(iam_documents.service_trust("vpc-flow-logs.amazonaws.com")),
            opts=self._child,
        )
        policy = aws.iam.RolePolicy(
            f"{self._name}-flow-logs",
            role=role.id,
            policy=group.arn.apply(lambda arn: iam_documents.as_text(flow_logs_policy(arn))),
            opts=self._child,
        )
        aws.ec2.FlowLog(
            f"{self._name}-flow-logs",
            vpc_id=self.vpc_id,
            traffic_type=flow_logs.traffic,
            log_destination=group.arn,
            iam_role_arn=role.arn,
            tags=self._tags("flow-logs"),
            opts=pulumi.ResourceOptions.merge(self._child, pulumi.ResourceOptions(depends_on=[policy])),
        )

    def _tags(self, name: str) -> dict[str, str]:
        return {"Name": f"{self._label}-{name}"}
