"""Simulated nodes: the ``v1.Node`` objects of a node group, and how the cluster is brought to them.

Labels and taints as EKS, the cloud controller and GPU feature discovery set them on a real node. A name says group and
number (``p5-1``) where EKS has the private DNS name: people read these. What is simulated is said in the node itself.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable

from sandbox.api import Api, Object
from sandbox.drain import drain
from sandbox.errors import SandboxError
from sandbox.node_groups import NodeGroup
from sandbox.zones import region, zone_name

DIGEST_ANNOTATION = "sandbox.gpu-inference/node-digest"
"""Changes when the node must be replaced."""
GROUP_LABEL = "eks.amazonaws.com/nodegroup"
SIMULATED_ANNOTATION = "sandbox.gpu-inference/simulated"
READY_TIMEOUT_SECONDS = 20.0


def node_names(group: NodeGroup) -> list[str]:
    """The nodes of a group, counted from 1."""
    return [f"{group.node_prefix}-{number}" for number in range(1, group.count + 1)]


def node_objects(group: NodeGroup, kubelet_version: str) -> dict[str, Object]:
    """The nodes of a group by name. ``kubelet_version`` is the API server's own (``v1.36.3``)."""
    return {
        name: _node(group, name, group.zones[index % len(group.zones)], kubelet_version)
        for index, name in enumerate(node_names(group))
    }


def _node(group: NodeGroup, name: str, zone_id: str, kubelet_version: str) -> Object:
    identity = hashlib.sha256(name.encode()).digest()
    node: Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**_cloud_labels(group, name, zone_id), **_gpu_labels(group), **group.labels},
            "annotations": {SIMULATED_ANNOTATION: "KWOK plays this node: no machine, no GPU, no container runs"},
        },
        "spec": {
            "providerID": f"aws:///{zone_name(zone_id)}/i-{identity.hex()[:17]}",
            "taints": [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in group.taints],
        },
        "status": {
            "capacity": group.resources.capacity,
            "allocatable": group.resources.allocatable,
            "addresses": [
                {"type": "InternalIP", "address": f"10.0.{identity[0]}.{identity[1]}"},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "osImage": f"{group.image} (simulated)",
                "kubeletVersion": kubelet_version,
                "kubeProxyVersion": "",
                "containerRuntimeVersion": "kwok://simulated",
                "kernelVersion": "simulated",
                "machineID": "",
                "systemUUID": "",
                "bootID": "",
            },
        },
    }
    digest = hashlib.sha256(json.dumps(node, sort_keys=True).encode()).hexdigest()[:16]
    node["metadata"]["annotations"][DIGEST_ANNOTATION] = digest
    return node


def _cloud_labels(group: NodeGroup, name: str, zone_id: str) -> dict[str, str]:
    return {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": group.instance.name,
        "topology.kubernetes.io/region": region(zone_id),
        "topology.kubernetes.io/zone": zone_name(zone_id),
        "topology.k8s.aws/zone-id": zone_id,
        GROUP_LABEL: group.name,
        "eks.amazonaws.com/capacityType": group.capacity_type,
    }


def _gpu_labels(group: NodeGroup) -> dict[str, str]:
    """What GPU feature discovery writes; the memory is the catalog's figure in MiB, nothing is measured here."""
    gpu = group.instance.gpu_model
    if gpu is None or not group.gpus_visible:
        return {}
    return {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.count": str(group.instance.gpus),
        "nvidia.com/gpu.product": gpu.product_label or gpu.name,
        "nvidia.com/gpu.family": gpu.architecture,
        "nvidia.com/gpu.memory": str(round(gpu.memory_gib * 1024)),
        "nvidia.com/gpu.machine": group.instance.name,
    }


def converge(api: Api, group: NodeGroup, report: Callable[[str], None]) -> None:
    """Bring the cluster's nodes of one group to what it says. Nodes of other groups are left alone.

    What is too much goes first, then changed nodes are replaced one after the other, each drained before and Ready
    again before the next goes (EKS's update strategy MINIMAL with one node unavailable); new nodes come last.

    Raises:
        SandboxError: a node is not Ready after ``READY_TIMEOUT_SECONDS``.
    """
    wanted = node_objects(group, api.request("GET", "/version")["gitVersion"])
    present = {
        node["metadata"]["name"]: node["metadata"]["annotations"].get(DIGEST_ANNOTATION)
        for node in _nodes_of(api, group.name)
    }
    for name in sorted(set(present) - set(wanted)):
        _remove(api, name, report)
    for name in sorted(set(present) & set(wanted)):
        if present[name] != wanted[name]["metadata"]["annotations"][DIGEST_ANNOTATION]:
            report(f"Node {name}: replacing it, pods move away first")
            drain(api, name, report)
            api.request("POST", "/api/v1/nodes", wanted[name])
            _wait_ready(api, {name})
    for name in sorted(set(wanted) - set(present)):
        api.request("POST", "/api/v1/nodes", wanted[name])
    _wait_ready(api, set(wanted))


def remove_group(api: Api, name: str, report: Callable[[str], None]) -> None:
    """Drain and delete every node of a group."""
    for node in _nodes_of(api, name):
        _remove(api, node["metadata"]["name"], report)


def _nodes_of(api: Api, group: str) -> list[Object]:
    return api.items(f"/api/v1/nodes?labelSelector={GROUP_LABEL}%3D{group}")


def _remove(api: Api, name: str, report: Callable[[str], None]) -> None:
    report(f"Node {name}: removing it, pods move away first")
    drain(api, name, report)


def is_ready(node: Object) -> bool:
    """Whether the node's Ready condition is true."""
    conditions = node["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _wait_ready(api: Api, names: set[str]) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_SECONDS
    while True:
        ready = {node["metadata"]["name"] for node in api.items("/api/v1/nodes") if is_ready(node)}
        if names <= ready:
            return
        if time.monotonic() > deadline:
            raise SandboxError(
                f"These nodes are not Ready after {READY_TIMEOUT_SECONDS:.0f} s: {', '.join(sorted(names - ready))}. "
                "The log logs/kwok.log in the sandbox's folder says why."
            )
        time.sleep(0.1)
