"""imdsv2-required, encryption-at-rest and eks-endpoint-exposure."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import LAUNCH_TEMPLATE, UNKNOWN, Object, judge, launch_template, manifest

IMDS, ENCRYPTION, ENDPOINT = "imdsv2-required", "encryption-at-rest", "eks-endpoint-exposure"
CLUSTER = "aws:eks/cluster:Cluster/main"


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ({"httpTokens": "required"}, None),
        ({"httpEndpoint": "disabled"}, None),
        ({"httpTokens": "optional"}, "violation"),
        ({"httpPutResponseHopLimit": 1}, "advice"),
        (None, "advice"),
        (UNKNOWN, "undecided"),
        ({"httpTokens": UNKNOWN}, "undecided"),
    ],
)
def test_metadata_tokens(options: Any, verdict: str | None) -> None:
    expected = [f"{verdict} {LAUNCH_TEMPLATE}"] if verdict else []
    assert judge(IMDS, launch_template(metadataOptions=options)) == expected


def node_class(**spec: Any) -> Object:
    return manifest("karpenter.k8s.aws/v1", "EC2NodeClass", "gpu", spec)


def test_karpenter_requires_tokens_unless_told_otherwise() -> None:
    assert judge(IMDS, node_class()) == []
    assert judge(IMDS, node_class(metadataOptions={"httpTokens": "optional"})) == ["violation EC2NodeClass/gpu"]


def resource(token: str, name: str, **properties: Any) -> Object:
    return {"type": token, "name": name, "properties": properties}


def ebs(encrypted: Any = None) -> list[Object]:
    return [
        {
            "deviceName": "/dev/xvda",
            "ebs": {"volumeSize": 500} | ({} if encrypted is None else {"encrypted": encrypted}),
        }
    ]


@pytest.mark.parametrize(
    ("encrypted", "verdict"),
    [
        (True, None),
        ("true", None),
        (False, "violation"),
        ("false", "violation"),
        (None, "advice"),
        (UNKNOWN, "undecided"),
    ],
)
def test_ebs_volumes_wherever_they_are_declared(encrypted: Any, verdict: str | None) -> None:
    def expected(label: str) -> list[str]:
        return [f"{verdict} {label}"] if verdict else []

    assert judge(ENCRYPTION, launch_template(blockDeviceMappings=ebs(encrypted))) == expected(LAUNCH_TEMPLATE)
    assert judge(ENCRYPTION, node_class(blockDeviceMappings=ebs(encrypted))) == expected("EC2NodeClass/gpu")
    given = {} if encrypted is None else {"encrypted": encrypted}
    volume = resource("aws:ebs/volume:Volume", "data", **given)
    assert judge(ENCRYPTION, volume) == expected("aws:ebs/volume:Volume/data")
    storage = manifest("storage.k8s.io/v1", "StorageClass", "gp3", None) | {
        "provisioner": "ebs.csi.aws.com",
        "parameters": given,
    }
    assert judge(ENCRYPTION, storage) == expected("StorageClass/gp3")


def test_file_systems_and_the_cluster() -> None:
    token = "aws:efs/fileSystem:FileSystem"
    assert judge(ENCRYPTION, resource(token, "cache")) == [f"violation {token}/cache"]
    assert judge(ENCRYPTION, resource(token, "cache", encrypted=True)) == []
    assert judge(ENCRYPTION, resource("aws:eks/cluster:Cluster", "main")) == [f"advice {CLUSTER}"]
    config = {"provider": {"keyArn": UNKNOWN}, "resources": ["secrets"]}
    assert judge(ENCRYPTION, resource("aws:eks/cluster:Cluster", "main", encryptionConfig=config)) == []


def test_disks_without_ebs_and_other_provisioners_are_not_its_business() -> None:
    mapping = [{"deviceName": "/dev/sdb", "virtualName": "ephemeral0"}]
    assert judge(ENCRYPTION, launch_template(blockDeviceMappings=mapping)) == []
    storage = manifest("storage.k8s.io/v1", "StorageClass", "fsx", None) | {"provisioner": "fsx.csi.aws.com"}
    assert judge(ENCRYPTION, storage) == []


@pytest.mark.parametrize(
    ("network", "verdict"),
    [
        ({}, "violation"),  # EKS's defaults: public, and open to all
        ({"endpointPublicAccess": True}, "violation"),
        ({"endpointPublicAccess": True, "publicAccessCidrs": ["203.0.113.0/24", "0.0.0.0/0"]}, "violation"),
        ({"endpointPublicAccess": "true", "publicAccessCidrs": ["::/0"]}, "violation"),
        ({"publicAccessCidrs": ["0.0.0.0/1", "128.0.0.0/1"]}, "violation"),
        ({"publicAccessCidrs": ["203.0.113.0/24"]}, None),
        ({"publicAccessCidrs": ["10.0.0.0/8"]}, None),
        ({"endpointPublicAccess": False, "endpointPrivateAccess": True}, None),
        ({"publicAccessCidrs": [UNKNOWN]}, "undecided"),
        ({"endpointPublicAccess": UNKNOWN}, "undecided"),
        (UNKNOWN, "undecided"),
    ],
)
def test_the_clusters_endpoint(network: Any, verdict: str | None) -> None:
    cluster = resource("aws:eks/cluster:Cluster", "main", vpcConfig=network)
    assert judge(ENDPOINT, cluster) == ([f"{verdict} {CLUSTER}"] if verdict else [])
