"""capacity-max-replicas: more replicas than the cluster can ever hold."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import (
    UNKNOWN,
    Object,
    found,
    group,
    hpa,
    judge,
    manifest,
    node_group,
    pod_metric,
    scaled_object,
    server,
    web,
)

RULE = "capacity-max-replicas"
VIOLATION = "violation ScaledObject/chat"
SIXTEEN = {"cluster_gpus": 16}


def gpu_nodes(most: Any = 2, instance_type: str = "p5.48xlarge", name: str = "gpu") -> Object:
    scaling = {"minSize": 0, "maxSize": most, "desiredSize": 1}
    return node_group(name, template=None, instanceTypes=[instance_type], scalingConfig=scaling)


@pytest.mark.parametrize(("most", "is_violation"), [(4, False), (5, True), ("5", True), (None, True)])
def test_the_maximum_of_a_scaled_object(most: Any, is_violation: bool) -> None:
    scaler = scaled_object(maxReplicaCount=most)
    expected = [VIOLATION] if is_violation else []
    assert judge(RULE, server(gpus=4), scaler, context=SIXTEEN) == expected
    assert judge(RULE, server(gpus=4), scaler, gpu_nodes()) == expected


def test_the_fix_names_the_most_that_fits() -> None:
    message = found(RULE, server(gpus=4), scaled_object(maxReplicaCount=8), gpu_nodes())[0].message
    assert "needs 32 GPUs" in message
    assert "maxReplicaCount to 4" in message


def test_an_hpa_and_a_deployment_of_its_own() -> None:
    assert judge(RULE, server(gpus=4), hpa(pod_metric(), maxReplicas=6), context=SIXTEEN) == [
        "violation HorizontalPodAutoscaler/chat"
    ]
    assert judge(RULE, server(gpus=4, replicas=6), context=SIXTEEN) == ["violation Deployment/chat"]
    assert judge(RULE, server(gpus=4, replicas=4), context=SIXTEEN) == []
    # Where a scaler owns the replicas, the Deployment's own number is not reported again.
    assert judge(RULE, server(gpus=4, replicas=6), scaled_object(maxReplicaCount=2), context=SIXTEEN) == []


def test_a_pod_does_not_span_nodes() -> None:
    # Two nodes of eight GPUs hold two pods of five, though sixteen GPUs are more than fifteen.
    assert judge(RULE, server(gpus=5), scaled_object(maxReplicaCount=3), gpu_nodes()) == [VIOLATION]
    assert judge(RULE, server(gpus=5), scaled_object(maxReplicaCount=2), gpu_nodes()) == []


def test_several_groups_add_up() -> None:
    groups = gpu_nodes(1), gpu_nodes(1, "g6e.12xlarge", "small")
    assert judge(RULE, server(gpus=4), scaled_object(maxReplicaCount=3), *groups) == []
    assert judge(RULE, server(gpus=4), scaled_object(maxReplicaCount=4), *groups) == [VIOLATION]


def test_a_group_of_nodes_is_one_replica() -> None:
    target = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "chat"}
    one = scaled_object(scaleTargetRef=target, maxReplicaCount=1)
    two = scaled_object(scaleTargetRef=target, maxReplicaCount=2)
    assert judge(RULE, group(size=2, gpus=8), one, gpu_nodes(2)) == []
    assert judge(RULE, group(size=2, gpus=8), two, gpu_nodes(2)) == [VIOLATION]


def test_a_group_of_absurd_size_is_counted_not_listed() -> None:
    target = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "chat"}
    scaler = scaled_object(scaleTargetRef=target, maxReplicaCount=1)
    assert judge(RULE, group(size=5_731_956_264), scaler, gpu_nodes()) == [VIOLATION]


def test_karpenter_pools_count_by_their_limit() -> None:
    def pool(limits: Object, key: str = "karpenter.k8s.aws/instance-category", value: str = "g") -> Object:
        requirement = {"key": key, "operator": "In", "values": [value]}
        spec = {"limits": limits, "template": {"spec": {"requirements": [requirement]}}}
        return manifest("karpenter.sh/v1", "NodePool", "gpu", spec)

    scaler = scaled_object(maxReplicaCount=5)
    assert judge(RULE, server(gpus=4), scaler, pool({"nvidia.com/gpu": "16"})) == [VIOLATION]
    assert judge(RULE, server(gpus=4), scaler, pool({"nvidia.com/gpu": 24})) == []
    assert judge(RULE, server(gpus=4), scaler, gpu_nodes(), pool({"cpu": "1000"})) == []
    for key, value in (("instance-category", "m"), ("instance-family", "c7i"), ("instance-type", "m7i.large")):
        of_cpus = pool({"cpu": "1000"}, f"karpenter.k8s.aws/{key}", value)
        assert judge(RULE, server(gpus=4), scaler, gpu_nodes(), of_cpus) == [VIOLATION]


@pytest.mark.parametrize(
    ("replicas", "in_tree", "is_violation"), [(4, False, False), (5, False, True), (4, True, True)]
)
def test_ray_workers(replicas: int, in_tree: bool, is_violation: bool) -> None:
    container = {"name": "worker", "image": "rayproject/ray:2.41.0", "resources": {"limits": {"nvidia.com/gpu": 4}}}
    workers = {
        "groupName": "gpu",
        "replicas": replicas,
        "maxReplicas": 5,
        "template": {"spec": {"containers": [container]}},
    }
    cpu = {"template": {"spec": {"containers": [{"name": "ray", "image": "rayproject/ray:2.41.0"}]}}}
    spec = {
        "enableInTreeAutoscaling": in_tree,
        "headGroupSpec": cpu,
        "workerGroupSpecs": [workers, {"groupName": "cpu", "replicas": 50, "maxReplicas": 50, **cpu}],
    }
    cluster = manifest("ray.io/v1", "RayCluster", "chat", spec)
    assert judge(RULE, cluster, context=SIXTEEN) == (["violation RayCluster/chat"] if is_violation else [])
    assert judge(RULE, cluster) == []


def test_nothing_bounds_it_or_it_is_not_known_yet() -> None:
    assert judge(RULE, server(gpus=4), scaled_object(maxReplicaCount=100)) == []
    undecided = ["undecided ScaledObject/chat"]
    assert judge(RULE, server(gpus=4), scaled_object(maxReplicaCount=UNKNOWN), context=SIXTEEN) == undecided
    assert judge(RULE, server(gpus=4), scaled_object(), gpu_nodes(UNKNOWN)) == undecided


def test_workloads_without_gpus_are_not_its_business() -> None:
    assert judge(RULE, web(), scaled_object(target="shop", maxReplicaCount=100), context=SIXTEEN) == []
    assert judge(RULE, scaled_object(target="elsewhere", maxReplicaCount=100), context=SIXTEEN) == []
