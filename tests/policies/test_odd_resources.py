"""No resource, however odd, crashes a rule: real shapes with any part replaced by anything."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.configuration import Configuration
from policies.evaluate import findings
from policies.model import ResourceSet
from policies.registry import rules
from tests.policies.builders import (
    TODAY,
    UNKNOWN,
    Object,
    efa_nics,
    group,
    host_metric,
    hpa,
    launch_template,
    load,
    manifest,
    node_group,
    pod_metric,
    pod_monitor,
    release,
    route,
    scaled_object,
    server,
    service,
    traffic_policy,
    trigger,
)

_WALL = {
    "podSelector": {"matchLabels": {"app": "chat"}},
    "policyTypes": ["Ingress", "Egress"],
    "ingress": [
        {"from": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}], "ports": [{"port": 8000, "endPort": 9000}]}
    ],
    "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 53, "protocol": "UDP"}]}],
}
_GPU_REQUIREMENT = {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["p5", "p6-b200"]}
_POOL = {
    "limits": {"nvidia.com/gpu": 16},
    "template": {
        "spec": {
            "nodeClassRef": {"name": "gpu"},
            "requirements": [_GPU_REQUIREMENT],
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        }
    },
}
_WORKER = {"name": "ray", "image": "vllm/vllm-openai:v0.33.0", "resources": {"limits": {"nvidia.com/gpu": 4}}}
_WORKERS = {"groupName": "gpu", "replicas": 9, "numOfHosts": 2, "template": {"spec": {"containers": [_WORKER]}}}
_INGRESS = {"rules": [{"http": {"paths": [{"backend": {"service": {"name": "chat"}}}]}}], "ingressClassName": "alb"}
_SELF = {"protocol": "-1", "self": True, "securityGroups": ["efa"]}
OBJECTS: list[Object] = [
    server(),
    group(),
    service(labels={"app": "chat"}),
    scaled_object(trigger(), trigger("max(vllm:kv_cache_usage_perc)", metric_type="Value")),
    hpa(host_metric(), pod_metric()),
    pod_monitor(labels={"release": "kps"}),
    manifest("networking.k8s.io/v1", "NetworkPolicy", "wall", _WALL),
    manifest("networking.k8s.io/v1", "Ingress", "chat", _INGRESS, annotations={}),
    route({"request": "60s", "backendRequest": "0s"}),
    traffic_policy(
        loadBalancer={
            "type": "ConsistentHash",
            "consistentHash": {"type": "Header", "header": {"name": "x"}, "tableSize": 7},
        },
        timeout={"http": {"requestTimeout": "1m"}},
    ),
    launch_template(
        networkInterfaces=efa_nics(4),
        placement={"groupName": "pg"},
        instanceMarketOptions={"marketType": "capacity-block"},
        capacityReservationSpecification={"capacityReservationTarget": {"capacityReservationId": "cr-1"}},
        metadataOptions={"httpTokens": "optional"},
    ),
    node_group(
        capacityType="CAPACITY_BLOCK",
        taints=[{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}],
        updateConfig={"updateStrategy": "DEFAULT"},
        subnetIds=["az-a", "az-b"],
        diskSize=20,
    ),
    manifest("karpenter.sh/v1", "NodePool", "gpu", _POOL),
    manifest(
        "karpenter.k8s.aws/v1",
        "EC2NodeClass",
        "gpu",
        {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "50Gi"}}], "metadataOptions": {}},
    ),
    manifest("ray.io/v1", "RayCluster", "ray", {"workerGroupSpecs": [_WORKERS], "enableInTreeAutoscaling": False}),
    manifest("inference.networking.k8s.io/v1", "InferencePool", "chat", {"endpointPickerRef": {"name": "epp"}}),
    release("gpu-operator", {"driver": {"enabled": True}}),
    release("dcgm-exporter", {"tolerations": []}),
    release("kube-prometheus-stack", {"prometheus": {"prometheusSpec": {"podMonitorSelector": {}}}}, name="kps"),
    {
        "type": "aws:ec2/securityGroup:SecurityGroup",
        "name": "efa",
        "properties": {"ingress": [_SELF], "egress": [_SELF], "tags": {"Name": "efa"}},
    },
    {
        "type": "aws:eks/cluster:Cluster",
        "name": "main",
        "properties": {"vpcConfig": {"publicAccessCidrs": ["0.0.0.0/0"]}, "encryptionConfig": {}},
    },
]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from([UNKNOWN, [UNKNOWN], {"a": UNKNOWN}, [], {}, [[]], [None], {"": {}}, "0", "-1", "None"]),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into plain data."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += _places(item, (*path, key))
    return found


def _body(item: Object) -> Object:
    return item["properties"] if "type" in item else item


@st.composite
def odd_programs(draw: st.DrawFn) -> list[Object]:
    """Some of the objects, in some of which a few parts are anything."""
    program = copy.deepcopy(draw(st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=6)))
    for item in program:
        # apiVersion, kind and metadata are the loader's business.
        places = [path for path in _places(_body(item)) if path[0] not in ("apiVersion", "kind", "metadata")]
        for path in draw(st.lists(st.sampled_from(places), max_size=2)):
            target = _body(item)
            for step in path[:-1]:
                target = target[step] if isinstance(target, dict | list) and _has(target, step) else {}
            if isinstance(target, dict) or (isinstance(target, list) and _has(target, path[-1])):
                target[path[-1]] = copy.deepcopy(draw(ODD))
    return program


def _has(value: Any, step: Any) -> bool:
    return step in value if isinstance(value, dict) else isinstance(step, int) and step < len(value)


CONTEXTS = st.one_of(
    st.just({}),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("prometheus", "gateway", "cluster_gpus", "addons"), ODD)),
)


@settings(max_examples=300, deadline=None)
@given(odd_programs(), CONTEXTS)
def test_no_program_crashes_a_rule(program: list[Object], context: Object) -> None:
    resources = ResourceSet(load(*program), context)
    labels = {resource.label for resource in resources}
    for finding in findings(rules().values(), resources, Configuration(), TODAY):
        assert finding.object in labels
        assert finding.message
