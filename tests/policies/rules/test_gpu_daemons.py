"""gpu-operator-vs-ami, gpu-daemonset-tolerations and efa-plugin-version: what runs on GPU nodes, and which of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import UNKNOWN, Object, efa_nics, judge, launch_template, manifest, node_group, release

OPERATOR, TOLERATIONS, PLUGIN = "gpu-operator-vs-ami", "gpu-daemonset-tolerations", "efa-plugin-version"
OPERATOR_RELEASE = "kubernetes:helm.sh/v3:Release/gpu-operator"
OFF = {"driver": {"enabled": False}, "toolkit": {"enabled": False}}
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
OTHER_TAINT = {"key": "team", "value": "llm", "effect": "NO_EXECUTE"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def gpu_group(name: str = "gpu", **properties: Any) -> Object:
    return node_group(name, template=None, **{"instanceTypes": ["p5.48xlarge"], **properties})


@pytest.mark.parametrize("ami", ["AL2023_x86_64_NVIDIA", "AL2023_ARM_64_NVIDIA", "AL2_x86_64_GPU"])
@pytest.mark.parametrize(
    "values", [{}, {"driver": {"enabled": False}}, {"driver": {"enabled": True}, "toolkit": {"enabled": True}}]
)
def test_the_operator_installs_what_the_image_brings(ami: str, values: Object) -> None:
    assert judge(OPERATOR, gpu_group(amiType=ami), release("gpu-operator", values)) == [f"violation {OPERATOR_RELEASE}"]


def test_the_operator_with_driver_and_toolkit_off() -> None:
    assert judge(OPERATOR, gpu_group(), release("gpu-operator", OFF)) == []
    bottlerocket = gpu_group(amiType="BOTTLEROCKET_x86_64_NVIDIA")
    assert judge(OPERATOR, bottlerocket, release("gpu-operator", OFF)) == [f"violation {OPERATOR_RELEASE}"]
    all_off = {**OFF, "devicePlugin": {"enabled": False}}
    assert judge(OPERATOR, bottlerocket, release("gpu-operator", all_off)) == []


def test_nodes_that_opt_out_by_label_or_bring_no_driver() -> None:
    labels = {"nvidia.com/gpu.deploy.driver": "false", "nvidia.com/gpu.deploy.container-toolkit": "false"}
    assert judge(OPERATOR, gpu_group(labels=labels), release("gpu-operator")) == []
    assert judge(OPERATOR, gpu_group(amiType="CUSTOM"), release("gpu-operator")) == []
    assert judge(OPERATOR, release("gpu-operator")) == []
    cpu = gpu_group(amiType="AL2023_x86_64_STANDARD", instanceTypes=["m7i.large"])
    assert judge(OPERATOR, cpu, release("gpu-operator")) == []


@pytest.mark.parametrize(
    "chart", ["nvidia/gpu-operator", "oci://registry.example/charts/gpu-operator", "./charts/gpu-operator-v26.3.3.tgz"]
)
def test_the_chart_is_known_by_its_name_wherever_it_comes_from(chart: str) -> None:
    label = f"kubernetes:helm.sh/v3:Release/{chart}"
    assert judge(OPERATOR, gpu_group(), release(chart)) == [f"violation {label}"]


def test_flux_and_argo_install_charts_too() -> None:
    flux = manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "gpu", {"chart": {"spec": {"chart": "gpu-operator"}}})
    argo_source = {
        "chart": "gpu-operator",
        "targetRevision": "v26.3.3",
        "helm": {"values": "driver: {enabled: false}\n"},
    }
    argo = manifest("argoproj.io/v1alpha1", "Application", "gpu", {"source": argo_source})
    assert judge(OPERATOR, gpu_group(), flux, argo) == ["violation Application/gpu", "violation HelmRelease/gpu"]


def test_values_that_are_not_known_yet() -> None:
    for install in (release("gpu-operator", UNKNOWN), release("gpu-operator", {}, valueYamlFiles=["gpu.yaml"])):
        assert judge(OPERATOR, gpu_group(), install) == [f"undecided {OPERATOR_RELEASE}"]
    half = release("gpu-operator", {"driver": {"enabled": UNKNOWN}})
    assert judge(OPERATOR, gpu_group(), half) == [f"undecided {OPERATOR_RELEASE}"]


def daemon_set(image: str, *tolerations: Object) -> Object:
    pod = {"containers": [{"name": "main", "image": image}], "tolerations": list(tolerations)}
    return manifest("apps/v1", "DaemonSet", "daemon", {"template": {"spec": pod}})


@pytest.mark.parametrize(
    ("chart", "values", "taints", "is_violation"),
    [
        ("dcgm-exporter", {}, [GPU_TAINT], True),
        ("dcgm-exporter", {"tolerations": []}, [GPU_TAINT], True),
        ("dcgm-exporter", {"tolerations": [TOLERATION]}, [GPU_TAINT], False),
        ("dcgm-exporter", {"tolerations": [{"operator": "Exists"}]}, [GPU_TAINT, OTHER_TAINT], False),
        ("dcgm-exporter", {"tolerations": [{"key": "nvidia.com/gpu", "value": "true"}]}, [GPU_TAINT], False),
        ("dcgm-exporter", {"tolerations": [{"key": "nvidia.com/gpu", "value": "yes"}]}, [GPU_TAINT], True),
        ("dcgm-exporter", {}, [{**GPU_TAINT, "effect": "PREFER_NO_SCHEDULE"}], False),
        ("dcgm-exporter", {}, [], False),
        ("nvidia-device-plugin", {}, [GPU_TAINT], False),
        ("nvidia-device-plugin", {}, [GPU_TAINT, OTHER_TAINT], True),
        ("gpu-operator", {}, [GPU_TAINT], False),
        ("gpu-operator", {}, [OTHER_TAINT], True),
        ("gpu-operator", {"daemonsets": {"tolerations": [{"operator": "Exists"}]}}, [OTHER_TAINT], False),
        ("aws-efa-k8s-device-plugin", {}, [GPU_TAINT], True),
        ("grafana", {}, [GPU_TAINT], False),
    ],
)
def test_tolerations_of_charts(chart: str, values: Object, taints: list[Object], is_violation: bool) -> None:
    expected = [f"violation kubernetes:helm.sh/v3:Release/{chart}"] if is_violation else []
    assert judge(TOLERATIONS, gpu_group(taints=taints), release(chart, values)) == expected


def test_tolerations_of_daemon_sets() -> None:
    image = "nvcr.io/nvidia/k8s/dcgm-exporter:4.8.3@sha256:0"
    tainted = gpu_group(taints=[GPU_TAINT])
    assert judge(TOLERATIONS, tainted, daemon_set(image)) == ["violation DaemonSet/daemon"]
    assert judge(TOLERATIONS, tainted, daemon_set(image, TOLERATION)) == []
    assert judge(TOLERATIONS, tainted, daemon_set("fluent/fluent-bit:3")) == []


def test_taints_of_karpenters_pools() -> None:
    def pool(*taints: Object) -> Object:
        return manifest("karpenter.sh/v1", "NodePool", "gpu", {"template": {"spec": {"taints": list(taints)}}})

    gpu = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
    image = "nvcr.io/nvidia/k8s/dcgm-exporter:4.8.3"
    assert judge(TOLERATIONS, pool(gpu), daemon_set(image)) == ["violation DaemonSet/daemon"]
    assert judge(TOLERATIONS, pool(gpu), daemon_set(image, TOLERATION)) == []
    assert judge(TOLERATIONS, pool({"key": "team", "effect": "NoSchedule"}), daemon_set(image)) == []


def test_the_efa_plugin_must_reach_efa_nodes_only() -> None:
    no_efa = gpu_group(instanceTypes=["g6e.xlarge"], taints=[GPU_TAINT])
    assert judge(TOLERATIONS, no_efa, release("aws-efa-k8s-device-plugin")) == []


def test_taints_or_tolerations_that_are_not_known_yet() -> None:
    expected = ["undecided kubernetes:helm.sh/v3:Release/dcgm-exporter"]
    assert judge(TOLERATIONS, gpu_group(taints=UNKNOWN), release("dcgm-exporter")) == expected
    install = release("dcgm-exporter", {"tolerations": UNKNOWN})
    assert judge(TOLERATIONS, gpu_group(taints=[GPU_TAINT]), install) == expected


def b200() -> list[Object]:
    template = launch_template(instance_type="p6-b200.48xlarge", networkInterfaces=efa_nics(8))
    return [template, node_group()]


@pytest.mark.parametrize(
    ("properties", "verdict"),
    [
        ({"version": "v0.5.3"}, "violation"),
        ({"version": "0.4.4"}, "violation"),
        ({"version": "v0.5.30"}, None),
        ({"version": "v0.5.10"}, None),
        ({"version": "v0.5.30", "values": {"image": {"tag": "v0.5.3"}}}, "violation"),
        ({"version": "v0.5.3", "values": {"image": {"tag": "v0.5.20"}}}, None),
        ({}, None),  # the newest one
        ({"version": UNKNOWN}, None),
        ({"version": "v0.5.3", "values": UNKNOWN}, "undecided"),
    ],
)
def test_the_efa_plugin_on_p6(properties: Object, verdict: str | None) -> None:
    install = release("aws-efa-k8s-device-plugin", **properties)
    expected = [f"{verdict} kubernetes:helm.sh/v3:Release/aws-efa-k8s-device-plugin"] if verdict else []
    assert judge(PLUGIN, *b200(), install) == expected


def test_an_old_efa_plugin_elsewhere_is_advice() -> None:
    expected = ["advice kubernetes:helm.sh/v3:Release/aws-efa-k8s-device-plugin"]
    assert judge(PLUGIN, gpu_group(), release("aws-efa-k8s-device-plugin", version="v0.5.3")) == expected
    image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.3"
    assert judge(PLUGIN, daemon_set(image)) == ["advice DaemonSet/daemon"]
    assert judge(PLUGIN, *b200(), daemon_set(image)) == ["violation DaemonSet/daemon"]


def test_a_karpenter_pool_may_run_p6_too() -> None:
    requirement = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p6-b200.48xlarge"]}
    pool = manifest("karpenter.sh/v1", "NodePool", "gpu", {"template": {"spec": {"requirements": [requirement]}}})
    found = judge(PLUGIN, pool, release("aws-efa-k8s-device-plugin", version="v0.5.3"))
    assert found == ["violation kubernetes:helm.sh/v3:Release/aws-efa-k8s-device-plugin"]


def test_other_charts_are_not_its_business() -> None:
    assert judge(PLUGIN, *b200(), release("nvidia-device-plugin", version="0.5.3")) == []
