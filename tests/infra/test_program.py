"""What the program declares for the repository's stacks: recorded under mocks, judged here and by the policy pack."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog.eks_pins import eks_pins
from components.cluster_add_ons import BEFORE_NODES, after_nodes
from infra.aws_checks import gpu_zones
from infra.cluster_version import later
from policies.configuration import load_configuration
from policies.evaluate import findings
from policies.loading import pulumi_resource
from policies.model import ResourceSet
from policies.registry import rules
from tests.aws_groups import ON_DEMAND
from tests.program_recorder import NOW, Recorder, record, stack_settings

STACKS = ["sandbox", "dev", "staging", "prod"]
POLICY_CONFIG = Path(__file__).resolve().parents[2] / "policies" / "config"
CLUSTER = "eks:index:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ADD_ON = "aws:eks/addon:Addon"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"


@pytest.fixture(scope="module")
def recorded() -> dict[str, Recorder]:
    return {stack: record(stack_settings(stack), stack) for stack in STACKS}


def cluster_half(found: Recorder) -> list[tuple[str, str, dict[str, Any]]]:
    """What is declared for AWS; the order of registration is not the program's."""
    own = [(d.type, d.name, d.inputs) for d in found.declared if d.type.startswith(("aws:", "eks:"))]
    return sorted(own, key=lambda entry: entry[:2])


@pytest.mark.parametrize("stack", STACKS)
def test_no_stack_violates_a_rule(stack: str, recorded: dict[str, Recorder]) -> None:
    """With ids as the mock gives them, so that templates, subnets and groups are found by their references."""
    resources = ResourceSet(
        [
            pulumi_resource(d.type, d.name, d.inputs, id=f"{d.type.rpartition(':')[2].lower()}-{d.name}")
            for d in recorded[stack].declared
        ]
    )
    configuration = load_configuration(POLICY_CONFIG / f"{stack}.json", rules())
    found = findings(rules().values(), resources, configuration, NOW.date())
    assert [(finding.rule, finding.message) for finding in found if finding.verdict != "advice"] == []


@pytest.mark.parametrize("stack", STACKS)
def test_the_clusters_own_add_ons_and_groups_are_off(stack: str, recorded: dict[str, Recorder]) -> None:
    inputs = recorded[stack].one(CLUSTER).inputs
    assert inputs["skipDefaultNodeGroup"] is inputs["skipDefaultSecurityGroups"] is inputs["useDefaultVpcCni"] is True
    assert inputs["kubeProxyAddonOptions"] == inputs["corednsAddonOptions"] == {"enabled": False}
    assert inputs["bootstrapSelfManagedAddons"] is inputs["createOidcProvider"] is False
    assert inputs["authenticationMode"] == "API"
    assert inputs["endpointPrivateAccess"] is True
    assert len(inputs["enabledClusterLogTypes"]) == 5
    assert inputs["upgradePolicy"] == {"supportType": "STANDARD"}


@pytest.mark.parametrize("stack", STACKS)
def test_each_add_on_is_made_once_and_pinned(stack: str, recorded: dict[str, Recorder]) -> None:
    add_ons = {d.inputs["addonName"]: d.inputs for d in recorded[stack].of(ADD_ON)}
    assert len(add_ons) == len(recorded[stack].of(ADD_ON))
    kind = stack_settings(stack).model_cache.kind
    assert set(add_ons) == {add_on.name for add_on in (*BEFORE_NODES, *after_nodes(kind))}
    assert {name: inputs["addonVersion"] for name, inputs in add_ons.items()} == {
        name: eks_pins().add_on(name) for name in add_ons
    }
    assert json.loads(add_ons["vpc-cni"]["configurationValues"])["enableNetworkPolicy"] == "true"
    with_rights = {name for name, inputs in add_ons.items() if "podIdentityAssociations" in inputs}
    assert {"vpc-cni", "aws-ebs-csi-driver"} <= with_rights


@pytest.mark.parametrize("stack", STACKS)
def test_every_resource_has_an_explicit_provider(stack: str, recorded: dict[str, Recorder]) -> None:
    bare = [
        (d.type, d.name)
        for d in recorded[stack].declared
        if d.type.startswith(("aws:", "kubernetes:", "eks:")) and not d.provider
    ]
    assert bare == []
    provider = recorded[stack].one("pulumi:providers:aws").inputs
    assert json.loads(provider["allowedAccountIds"])
    assert json.loads(provider["defaultTags"])["tags"]["Stack"] == stack


@pytest.mark.parametrize("stack", STACKS)
def test_gpu_groups_are_in_one_subnet_of_their_zone(stack: str, recorded: dict[str, Recorder]) -> None:
    subnets = {f"subnet-{d.name}": d.inputs for d in recorded[stack].of("aws:ec2/subnet:Subnet")}
    (zone,) = gpu_zones(stack_settings(stack))
    for group in recorded[stack].of(NODE_GROUP):
        if group.name != "system":
            (subnet,) = group.inputs["subnetIds"]
            assert subnets[subnet]["availabilityZoneId"] == zone
            assert ipaddress.IPv4Network(subnets[subnet]["cidrBlock"]).prefixlen <= 22
    system = recorded[stack].one(NODE_GROUP, "system")
    assert len({subnets[subnet]["availabilityZoneId"] for subnet in system.inputs["subnetIds"]}) == 3


def test_security_groups_of_production(recorded: dict[str, Recorder], golden: Callable[[str, Any], None]) -> None:
    groups = {
        d.name: {key: d.inputs.get(key) for key in ("ingress", "egress")} for d in recorded["prod"].of(SECURITY_GROUP)
    }
    rules_ = recorded["prod"].of("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    golden("aws/security-groups-prod.yaml", {"groups": groups, "rules": {d.name: d.inputs for d in rules_}})


def test_policies_of_roles_in_production(recorded: dict[str, Recorder], golden: Callable[[str, Any], None]) -> None:
    found = recorded["prod"]
    roles = {d.name: json.loads(d.inputs["assumeRolePolicy"]) for d in found.of("aws:iam/role:Role")}
    inline = {d.name: json.loads(d.inputs["policy"]) for d in found.of("aws:iam/rolePolicy:RolePolicy")}
    managed = sorted(d.inputs["policyArn"] for d in found.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment"))
    golden("aws/roles-prod.yaml", {"trust": roles, "inline": inline, "managed": managed})


def test_the_cluster_of_production(recorded: dict[str, Recorder], golden: Callable[[str, Any], None]) -> None:
    golden("aws/cluster-prod.yaml", recorded["prod"].one(CLUSTER).inputs)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "meta-llama/Llama-3.1-8B-Instruct"},
        {"max_model_len": 8192},
        {"image": "registry.example/vllm:v0.33.0"},
        {"autoscaler": {"name": "vllm-autoscaler", "min_replicas": 3}},
    ],
    ids=["model", "length", "image", "replicas"],
)
def test_a_change_of_a_model_touches_nothing_under_it(change: dict[str, Any], recorded: dict[str, Recorder]) -> None:
    settings = stack_settings("prod")
    server = json.loads(settings.model_servers[0].model_dump_json(exclude_none=True)) | change
    changed = record(stack_settings("prod", {"model_servers": [server]}), "prod")
    assert cluster_half(changed) == cluster_half(recorded["prod"])


@pytest.mark.parametrize(("running", "asked"), [(None, "1.36"), ("1.36", "1.36"), ("1.35", "1.36"), ("1.37", "1.37")])
def test_the_version_follows_the_pin_up_and_never_down(running: str | None, asked: str) -> None:
    found = record(stack_settings("sandbox"), "sandbox", running_version=running)
    assert found.one(CLUSTER).inputs["version"] == asked
    # Nodes stay at what is pinned with their AMI, also under an upgraded control plane.
    assert {d.inputs["version"] for d in found.of(NODE_GROUP)} == {"1.36"}


def test_versions_are_compared_as_numbers() -> None:
    assert later("1.9", "1.10") == "1.10"


def test_an_autoscaled_group_is_tagged_where_the_autoscaler_looks() -> None:
    group = {"name": "p5", "instance_type": "p5.48xlarge", "count": 2, "scaled_by": "cluster-autoscaler"}
    found = record(stack_settings("prod", {"node_groups": [group | {"capacity": ON_DEMAND}]}), "prod")
    tags = found.of("aws:autoscaling/tag:Tag")
    assert {d.inputs["autoscalingGroupName"] for d in tags} == {"asg-p5"}
    assert "k8s.io/cluster-autoscaler/node-template/resources/vpc.amazonaws.com/efa" in {
        d.inputs["tag"]["key"] for d in tags
    }
    placement = found.one("aws:ec2/placementGroup:PlacementGroup")
    template = found.one("aws:ec2/launchTemplate:LaunchTemplate", "p5")
    assert placement.inputs["strategy"] == "cluster"
    assert template.inputs["placement"]["groupName"] == "p5"


def test_efs_by_choice(golden: Callable[[str, Any], None]) -> None:
    cache = {"storage_gib": 500, "efs": {}}
    found = record(stack_settings("sandbox", {"model_cache": cache}), "sandbox")
    assert len(found.of("aws:efs/mountTarget:MountTarget")) == 3
    assert found.one("aws:efs/fileSystem:FileSystem").inputs["encrypted"] is True
    golden("aws/cache-efs.yaml", cache_objects(found))


def test_lustre_by_default_with_s3_by_choice(golden: Callable[[str, Any], None]) -> None:
    cache = {"storage_gib": 2400, "fsx": {"s3_import": {"path": "s3://weights/llama"}}}
    found = record(stack_settings("sandbox", {"model_cache": cache}), "sandbox")
    golden("aws/cache-fsx.yaml", cache_objects(found))
    association = found.one("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation").inputs
    # With an export, a clean-up of the cache would delete the weights in the bucket.
    assert set(association["s3"]) == {"autoImportPolicy"}
    assert "DELETED" not in association["s3"]["autoImportPolicy"]["events"]


def test_node_local_by_choice(recorded: dict[str, Recorder], golden: Callable[[str, Any], None]) -> None:
    golden("aws/cache-node-local.yaml", cache_objects(recorded["dev"]))


def cache_objects(found: Recorder) -> dict[str, Any]:
    """The Kubernetes objects of the cache: volume, claim, owner and prefetch."""
    kinds = ("core/v1:PersistentVolume", "core/v1:PersistentVolumeClaim", "batch/v1:Job", "apps/v1:DaemonSet")
    return {
        f"{d.type.rpartition(':')[2]}/{d.name}": {"metadata": d.inputs["metadata"], "spec": d.inputs["spec"]}
        for d in found.declared
        if d.type.removeprefix("kubernetes:") in kinds
    }


def test_the_token_comes_from_secrets_manager_by_choice(golden: Callable[[str, Any], None]) -> None:
    arn = "arn:aws:secretsmanager:us-east-1:111122223333:secret:hf-token-AbCdEf"
    secrets = [{"name": "hf-token-secret", "secret_arn": arn}]
    found = record(stack_settings("prod", {"external_secrets": secrets}), "prod")
    policy = json.loads(found.one("aws:iam/rolePolicy:RolePolicy", "external-secrets").inputs["policy"])
    assert policy["Statement"][0]["Resource"] == [arn]
    golden(
        "aws/external-secret.yaml",
        {
            d.name: {"kind": d.inputs["kind"], "spec": d.inputs["spec"]}
            for d in found.declared
            if d.type.startswith("kubernetes:external-secrets.io/")
        },
    )
