"""Node objects: what a scheduler or an operator of the GPU stack looks for is there."""

from __future__ import annotations

import dataclasses

from sandbox.node_groups import NodeGroup, Taint
from sandbox.nodes import DIGEST_ANNOTATION, node_objects
from tests.sandbox.simulated_nodes import node_group

P5 = node_group("p5", "p5.48xlarge", 3, ("use1-az1", "use1-az2"))


def test_labels_taint_and_place_of_a_gpu_node() -> None:
    nodes = node_objects(P5, "v1.36.3")
    assert list(nodes) == ["p5-1", "p5-2", "p5-3"]
    labels = nodes["p5-2"]["metadata"]["labels"]
    assert labels["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert labels["eks.amazonaws.com/nodegroup"] == "p5"
    assert labels["topology.kubernetes.io/region"] == "us-east-1"
    assert labels["topology.kubernetes.io/zone"] == "us-east-1b"
    assert labels["topology.k8s.aws/zone-id"] == "use1-az2"
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert labels["nvidia.com/gpu.count"] == "8"
    assert nodes["p5-2"]["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
    assert nodes["p5-2"]["spec"]["providerID"].startswith("aws:///us-east-1b/i-")


def test_nodes_take_the_zones_in_turn() -> None:
    zones = [node["metadata"]["labels"]["topology.k8s.aws/zone-id"] for node in node_objects(P5, "v1").values()]
    assert zones == ["use1-az1", "use1-az2", "use1-az1"]


def test_nodes_differ_where_they_must() -> None:
    nodes = node_objects(P5, "v1").values()
    assert len({node["spec"]["providerID"] for node in nodes}) == 3
    assert len({node["status"]["addresses"][0]["address"] for node in nodes}) == 3


def test_a_plain_node_has_no_gpu_label_and_no_taint_but_its_own() -> None:
    taints = (Taint(key="only", effect="NoSchedule"),)
    group = node_group("tools", "m7i.large", 1, ("use1-az1",), labels={"team": "ml"}, taints=taints)
    node = node_objects(group, "v1")["tools-1"]
    assert not [label for label in node["metadata"]["labels"] if label.startswith("nvidia.com/")]
    assert node["metadata"]["labels"]["team"] == "ml"
    assert node["spec"]["taints"] == [{"key": "only", "value": "", "effect": "NoSchedule"}]


def test_a_grown_group_keeps_its_nodes_and_a_changed_type_replaces_them() -> None:
    def digests(group: NodeGroup) -> dict[str, str]:
        return {
            name: node["metadata"]["annotations"][DIGEST_ANNOTATION] for name, node in node_objects(group, "v1").items()
        }

    before = digests(P5)
    assert before.items() <= digests(dataclasses.replace(P5, count=5)).items()
    changed = digests(node_group("p5", "p5e.48xlarge", 3, P5.zones))
    assert all(changed[name] != digest for name, digest in before.items())
    image = digests(dataclasses.replace(P5, image="AL2023_x86_64_NVIDIA 1.36.2-20260801"))
    assert all(image[name] != digest for name, digest in before.items())


def test_nodes_whose_device_plugin_does_not_run_have_no_gpu_label() -> None:
    node = node_objects(dataclasses.replace(P5, gpus_visible=False), "v1")["p5-1"]
    assert not [label for label in node["metadata"]["labels"] if label.startswith("nvidia.com/")]
