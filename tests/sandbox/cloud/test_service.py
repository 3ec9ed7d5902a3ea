"""The imaginary account over a resource's life: made, changed, needed by others, gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.errors import AwsError, StandInError
from tests.sandbox.cloud.imaginary import CLUSTER, GROUP, SECURITY_GROUP, SUBNET, TEMPLATE, VPC, Imaginary


def test_ids_and_arns_have_awss_form(imaginary: Imaginary) -> None:
    assert re.fullmatch(r"vpc-[0-9a-f]{17}", imaginary.vpc.id)
    assert imaginary.vpc.arn == f"arn:aws:ec2:us-east-1:111122223333:vpc/{imaginary.vpc.id}"
    assert imaginary.subnets[1].outputs["availabilityZone"] == "us-east-1b"
    assert imaginary.cluster.outputs["endpoint"] == "https://127.0.0.1:6443"
    assert imaginary.cluster.outputs["vpcConfig"]["subnetIds"] == [subnet.id for subnet in imaginary.subnets]


def test_what_was_made_is_there_for_the_next_process(imaginary: Imaginary) -> None:
    again = Account(imaginary.account.path)
    assert again.get(VPC, imaginary.vpc.id) == imaginary.vpc
    assert again.created_as(imaginary.cluster.urn) == imaginary.cluster
    assert [subnet.id for subnet in again.of_type(SUBNET)] == [subnet.id for subnet in imaginary.subnets]


def test_reading_an_account_that_is_not_there_makes_no_file(tmp_path: Path) -> None:
    account = Account(tmp_path / "none" / "account.sqlite")
    assert account.everything() == []
    assert not account.path.parent.exists()


def test_a_subnet_in_use_does_not_go(imaginary: Imaginary) -> None:
    subnet = imaginary.subnets[0]
    with pytest.raises(AwsError, match=f"DependencyViolation: The subnet '{subnet.id}' has dependencies") as caught:
        imaginary.service.delete(SUBNET, subnet.id)
    assert "used by: Cluster gpu" in str(caught.value)
    imaginary.service.delete(CLUSTER, "gpu")
    imaginary.service.delete(SUBNET, subnet.id)
    assert imaginary.account.get(SUBNET, subnet.id) is None


def test_the_same_word_in_a_tag_or_name_is_no_use(imaginary: Imaginary) -> None:
    made = imaginary.make(SECURITY_GROUP, name="gpu", vpcId=imaginary.vpc.id, tags={"cluster": "gpu"})
    assert made not in imaginary.account.users_of(imaginary.cluster)


def test_a_cluster_with_node_groups_does_not_go(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, **imaginary.template())
    imaginary.make(GROUP, **imaginary.group(template))
    with pytest.raises(AwsError, match="ResourceInUseException: Cluster has nodegroups attached"):
        imaginary.service.delete(CLUSTER, "gpu")


def test_a_protected_cluster_goes_only_after_its_protection(imaginary: Imaginary) -> None:
    imaginary.change(imaginary.cluster, deletionProtection=True)
    with pytest.raises(AwsError, match="has deletion protection"):
        imaginary.service.delete(CLUSTER, "gpu")
    imaginary.change(imaginary.cluster, deletionProtection=False)
    imaginary.service.delete(CLUSTER, "gpu")
    assert imaginary.account.of_type(CLUSTER) == []


def test_a_clusters_add_ons_go_with_it(imaginary: Imaginary) -> None:
    imaginary.make("aws:eks/addon:Addon", clusterName="gpu", addonName="vpc-cni")
    imaginary.service.delete(CLUSTER, "gpu")
    assert imaginary.account.of_type("aws:eks/addon:Addon") == []


def test_a_template_can_go_while_a_group_names_it_and_takes_its_versions_along(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, **imaginary.template())
    imaginary.change(template, instanceType="p5e.48xlarge")
    imaginary.service.delete(TEMPLATE, template.id)
    assert imaginary.account.of_type("launch template version") == []


def test_deleting_what_is_gone_is_fine(imaginary: Imaginary) -> None:
    imaginary.service.delete(VPC, "vpc-00000000000000000")
    assert imaginary.account.get(VPC, imaginary.vpc.id) == imaginary.vpc


def test_changing_what_is_gone_is_not(imaginary: Imaginary) -> None:
    with pytest.raises(AwsError, match="ResourceNotFoundException"):
        imaginary.change(Resource(VPC, "vpc-00000000000000000", ""), cidrBlock="10.0.0.0/16")


def test_a_changed_template_has_a_new_version_and_the_group_stays_on_its_own(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, **imaginary.template())
    group = imaginary.make(GROUP, **imaginary.group(template))
    changed = imaginary.change(template, ebsOptimized="true")
    assert (changed.outputs["latestVersion"], changed.outputs["defaultVersion"]) == (2, 1)
    imaginary.change(group, labels={"a": "b"})
    assert "ebsOptimized" not in (imaginary.cluster_behind.templates["p5"] or {})
    imaginary.change(group, launchTemplate={"id": template.id, "version": "$Latest"})
    assert (imaginary.cluster_behind.templates["p5"] or {})["ebsOptimized"] == "true"


def test_nodes_follow_the_group(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, **imaginary.template())
    group = imaginary.make(GROUP, **imaginary.group(template))
    assert imaginary.cluster_behind.desired == {"p5": 2}
    imaginary.change(group, scalingConfig={"minSize": 0, "desiredSize": 1, "maxSize": 2})
    assert imaginary.cluster_behind.desired == {"p5": 1}
    imaginary.service.delete(GROUP, group.id)
    assert imaginary.cluster_behind.desired == {}


def test_a_group_whose_nodes_did_not_come_is_not_there(imaginary: Imaginary, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the next ``up`` makes it, instead of finding it complete."""

    def fail(*_: object) -> None:
        raise AwsError("NodeCreationFailure", "Instances failed to join the kubernetes cluster")

    template = imaginary.make(TEMPLATE, **imaginary.template())
    monkeypatch.setattr(imaginary.cluster_behind, "set_nodes", fail)
    with pytest.raises(AwsError, match="NodeCreationFailure"):
        imaginary.make(GROUP, **imaginary.group(template))
    assert imaginary.account.of_type(GROUP) == []


def test_a_name_made_of_a_prefix(imaginary: Imaginary) -> None:
    template = imaginary.make(TEMPLATE, name="system", instanceType="m7i.xlarge")
    inputs = imaginary.group(template, nodeGroupName=None, nodeGroupNamePrefix="system-")
    group = imaginary.make(GROUP, **inputs)
    assert re.fullmatch(r"system-\d{20}", group.state["nodeGroupName"])
    assert group.id == f"gpu:{group.state['nodeGroupName']}"


def test_two_resources_of_one_name(imaginary: Imaginary) -> None:
    imaginary.make("aws:iam/role:Role", name="node", assumeRolePolicy="{}")
    with pytest.raises(AwsError, match="EntityAlreadyExists: Role with name node already exists"):
        imaginary.make("aws:iam/role:Role", name="node", assumeRolePolicy="{}")


def test_one_control_plane_carries_one_cluster(imaginary: Imaginary) -> None:
    subnets = [subnet.id for subnet in imaginary.subnets]
    with pytest.raises(StandInError, match=r"gpu is on it \(stack dev\).*Destroy that stack first"):
        imaginary.make(CLUSTER, name="second", roleArn="arn", vpcConfig={"subnetIds": subnets})


def test_a_role_goes_only_without_its_policies(imaginary: Imaginary) -> None:
    role = imaginary.make("aws:iam/role:Role", name="node", assumeRolePolicy="{}")
    attached = imaginary.make("aws:iam/rolePolicyAttachment:RolePolicyAttachment", role=role.id, policyArn="arn")
    with pytest.raises(AwsError, match="DeleteConflict: Cannot delete entity, must detach all policies first"):
        imaginary.service.delete(role.type, role.id)
    imaginary.service.delete(attached.type, attached.id)
    imaginary.service.delete(role.type, role.id)
    assert imaginary.account.of_type(role.type) == []
