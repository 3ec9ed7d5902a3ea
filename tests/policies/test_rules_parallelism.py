"""Rules on ranks, GPUs and engines that span nodes: passes, violations, near misses, unknowns, not their business."""

from __future__ import annotations

from typing import Any

import pytest

from policies.unknowns import Unknown
from tests.policies.manifests import (
    IMAGE,
    NODE_LABEL,
    changed,
    container,
    group,
    node_of_group,
    outcomes_of,
    pod,
    pulumi,
    served,
    shared_memory,
    verdict,
    workload,
)

TP4 = ("meta-llama/Llama-3.3-70B-Instruct", "--tensor-parallel-size=4")
BENCH = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bench"}}
CLIENT = BENCH | {
    "spec": {"template": pod(containers=[container(command=["vllm", "bench", "serve"], args=["-tp", "4"])])}
}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "notes"}, "data": {"x": "vllm serve m -tp 16"}}
HOST_NET = {"hostNetwork": True}
SELECTOR = "spec.template.spec.nodeSelector"
TP2 = served("m", "-tp=2", gpus=2)
NO_MOUNT_OF_VOLUMES = changed(served(*TP4, gpus=4, **shared_memory()), "spec.template.spec.volumes", Unknown("volumes"))
NEURON = served("m", "-tp=8", resources={"limits": {"aws.amazon.com/neuron": 8}})
AMD = changed(served("m", "-tp=4", gpus=4), "spec.template.spec.containers.0.resources", {"limits": {"amd.com/gpu": 4}})
RDMA = {"nvidia.com/gpu": 8, "rdma/hca_shared": 1}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (served(*TP4, gpus=4, **shared_memory()), "pass"),
        (served(*TP4, gpus=4, **shared_memory(None)), "pass"),
        (served(*TP4, gpus=4, **shared_memory("8Gi")), "pass"),
        (served(*TP4, gpus=4, **shared_memory("17179869184")), "pass"),
        (served(*TP4, gpus=4), "violation"),
        (served(*TP4, gpus=4, **shared_memory("1Gi")), "violation"),
        (served(*TP4, gpus=4, **shared_memory("64Mi")), "violation"),
        (served(*TP4, gpus=4, **shared_memory("32Gi", medium=None)), "violation"),
        (served("m", "-tp", "8", gpus=8, **shared_memory("15Gi")), "advice"),
        (served("m", "-tp", "8", gpus=8, **shared_memory("8Gi")), "violation"),
        (served("m", "--data_parallel_size=4", gpus=4), "violation"),
        (served("m", "-pp", "4", gpus=4), "violation"),
        (served("m", gpus=1), "pass"),
        (NEURON, "pass"),
        (changed(served(*TP4, gpus=4), "spec.template.spec.hostIPC", True), "pass"),
        (
            served(*TP4, gpus=4, volumeMounts=[{"name": "h", "mountPath": "/dev/shm/"}],
                   volumes=[{"name": "h", "hostPath": {"path": "/dev/shm"}}]),
            "pass",
        ),
        (
            served(*TP4, gpus=4, volumeMounts=[{"name": "h", "mountPath": "/dev/shm"}],
                   volumes=[{"name": "h", "persistentVolumeClaim": {"claimName": "x"}}]),
            "violation",
        ),
        (NO_MOUNT_OF_VOLUMES, "undecided"),
        (served("m", Unknown("args[1]"), gpus=4), "undecided"),  # type: ignore[arg-type]
        (group(node_of_group()), "pass"),
        (group(changed(node_of_group(), "spec.volumes", [])), "violation"),
        (CLIENT, "pass"),
    ],
)  # fmt: skip
def test_shm_size(body: dict[str, Any], expected: str) -> None:
    assert verdict("shm-size", body) == expected


def test_kuberay_mounts_shared_memory_itself() -> None:
    ray = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "r"},
        "spec": {"workerGroupSpecs": [{"template": served(*TP4, gpus=4)["spec"]["template"]}]},
    }
    assert verdict("shm-size", ray) == "pass"
    small = served(*TP4, gpus=4, **shared_memory("1Gi"))["spec"]["template"]
    assert verdict("shm-size", changed(ray, "spec.workerGroupSpecs.0.template", small)) == "violation"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (served(*TP4, gpus=4), "pass"),
        (served(*TP4, gpus=2), "violation"),
        (served(*TP4, gpus=8), "violation"),
        (served("m", "-tp=2", "-dp", "2", gpus=4), "pass"),
        (served("m", "--tensor_parallel_size", "2", "--pipeline-parallel", "2", gpus=4), "pass"),
        (served("m", "--data-parallel-size=16", "--data-parallel-size-local=8", gpus=8), "pass"),
        (served("m", "--data-parallel-size=16", "--data-parallel-rank=3", "-tp=4", gpus=4), "pass"),
        (served("m", "--tensor-parallel-size=$(TP)", gpus=2, env=[{"name": "TP", "value": "2"}]), "pass"),
        (served("m", "--tensor-parallel-size=$(TP)", gpus=2, env=[{"name": "TP", "value": 4}]), "violation"),
        (
            served("m", "--tensor-parallel-size=$(TP)", gpus=2,
                   env=[{"name": "TP", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "tp"}}}]),
            "undecided",
        ),
        (served("m", "-tp=4", gpus=0), "advice"),
        (NEURON, "pass"),
        (served("m", gpus=0), "pass"),
        (served("m", "--distributed-executor-backend", "ray", "-tp=8", "-pp=2", gpus=8), "undecided"),
        (group(node_of_group()), "pass"),
        (group(node_of_group(), size=4), "violation"),
        (group(node_of_group(), size=Unknown("size")), "undecided"),
        (CLIENT, "pass"),
        (CONFIG, "pass"),
    ],
)  # fmt: skip
def test_tp_matches_gpus(body: dict[str, Any], expected: str) -> None:
    assert verdict("tp-matches-gpus", body) == expected


@pytest.mark.parametrize(
    ("command", "tensor"),
    [
        (["vllm", "serve", "m", "-tp", "4"], 4),
        (["python3", "-m", "vllm.entrypoints.openai.api_server", "--model=m", "-tp=4"], 4),
        (["/opt/venv/bin/python", "-m", "vllm.entrypoints.cli.main", "serve", "m", "-tp", "4"], 4),
        (["tini", "--", "vllm", "serve", "m", "--tensor-parallel-size", "4"], 4),
        (["/bin/bash", "-lc", "vllm serve m \\\n --tensor-parallel-size=4"], 4),
        (["sh", "-ec", "export TP=4\nexec vllm serve m -tp ${TP}"], 4),
        (["sh", "-c", "TP=4 ; vllm serve m -tp \"$TP\" 2>&1 | tee /tmp/log"], 4),
        (["bash", "-c", "ARGS=(-tp 4); ARGS+=(--port 80); exec vllm serve m \"${ARGS[@]}\""], 4),
        (["sh", "-c", "exec vllm serve \"$@\"", "--", "m", "-tp", "4"], 4),
        (["sh", "-c", "pip install x && CUDA_HOME=/x vllm serve m -tp ${TP_SIZE:-4}"], 4),
        (["sh", "-c", "# vllm serve m -tp 8\nvllm serve m -tp 4 # -tp 2"], 4),
        (["sh", "-c", "cat > /x <<EOF\nvllm serve m -tp 8\nEOF\nvllm serve m -tp 4"], 4),
        (["sh", "-c", "if [ $R = 0 ]; then vllm serve m -tp 4; else vllm serve m -tp 4 --headless; fi"], 4),
    ],
)  # fmt: skip
def test_vllm_is_recognised_however_it_is_started(command: list[str], tensor: int) -> None:
    assert verdict("tp-matches-gpus", served(gpus=tensor, command=command, args=None)) == "pass"
    assert verdict("tp-matches-gpus", served(gpus=tensor + 1, command=command, args=None)) == "violation"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (served(*TP4, gpus=4), "pass"),
        (served(*TP4, gpus=4, node=None), "pass"),
        (served("m", "-tp=2", gpus=2, node="g6e.12xlarge"), "violation"),
        (served("m", "-tp=2", gpus=2, node="g5.12xlarge"), "violation"),
        (served("m", "-tp=4", gpus=4, node="p3.8xlarge"), "pass"),
        (served("m", "-tp=1", gpus=1, node="g5.xlarge"), "pass"),
        (served("m", "-pp=2", gpus=2, node="g5.12xlarge"), "pass"),
        (changed(TP2, SELECTOR, {"nvidia.com/gpu.product": "NVIDIA-L40S"}), "violation"),
        (changed(TP2, SELECTOR, {"karpenter.k8s.aws/instance-family": "g6"}), "violation"),
        (changed(TP2, SELECTOR, Unknown("nodeSelector")), "undecided"),
        (AMD, "pass"),
        (CLIENT, "pass"),
    ],
)  # fmt: skip
def test_tp_in_nvlink_domain(body: dict[str, Any], expected: str) -> None:
    assert verdict("tp-in-nvlink-domain", body) == expected


def test_tp_over_a_choice_of_instance_types_is_advice_while_one_has_nvlink() -> None:
    either = {"key": NODE_LABEL, "operator": "In", "values": ["p5.48xlarge", "g6e.12xlarge"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [either]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    body = changed(served("m", "-tp=2", gpus=2, node=None), "spec.template.spec.affinity", affinity)
    assert verdict("tp-in-nvlink-domain", body) == "advice"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "-tp=8"), "violation"),
        (("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "-tp=4"), "pass"),
        (("/models/Qwen2.5-7B-Instruct", "-tp=8"), "violation"),
        (("our/own-model", "-tp=7"), "pass"),
        (("$(MODEL)", "-tp=8"), "pass"),
        ((Unknown("model"), "-tp=8"), "undecided"),
    ],
)
def test_tp_divides_heads(args: tuple[Any, ...], expected: str) -> None:
    assert verdict("tp-divides-heads", served(*args, gpus=8)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (group(node_of_group()), "pass"),
        (group(node_of_group(efa=0)), "violation"),
        (group(changed(node_of_group(efa=0), "spec.containers.0.resources.limits", RDMA)), "pass"),
        (group(node_of_group(efa=0), size=Unknown("size")), "undecided"),
        (served("m", "-tp=8", gpus=8), "pass"),
        (group(node_of_group(efa=0), size=1), "pass"),
    ],
)  # fmt: skip
def test_pp_needs_rdma(body: dict[str, Any], expected: str) -> None:
    assert verdict("pp-needs-rdma", body) == expected


def test_pp_needs_rdma_names_the_share_of_the_node() -> None:
    half = changed(node_of_group(efa=0, gpus=4), "spec.containers.0.command.2", "vllm serve m -tp 4 -pp 2 --nnodes 2")
    assert "vpc.amazonaws.com/efa: 16" in outcomes_of("pp-needs-rdma", group(half))[0].message


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (group(node_of_group()), "pass"),
        (group(node_of_group(image=IMAGE)), "violation"),
        (group(node_of_group(image="registry.internal:5000/mirror/vllm/vllm-openai:v0.33.0")), "violation"),
        (group(node_of_group(image="registry.internal/vllm-efa:1")), "pass"),
        (served("m", gpus=8), "pass"),
        (group(changed(node_of_group(image=IMAGE), "spec.containers.0.image", Unknown("image"))), "undecided"),
    ],
)
def test_efa_image(body: dict[str, Any], expected: str) -> None:
    assert verdict("efa-image", body) == expected


@pytest.mark.parametrize(
    ("size", "policy", "expected"),
    [
        (2, "None", "violation"),
        (2, "Default", "violation"),
        (2, "RecreateGroupOnPodRestart", "pass"),
        (2, None, "pass"),
        (1, "None", "pass"),
        (2, Unknown("restartPolicy"), "undecided"),
    ],
)
def test_lws_restart_policy(size: int, policy: Any, expected: str) -> None:
    assert verdict("lws-restart-policy", group(node_of_group(), size=size, restartPolicy=policy)) == expected


def test_headless_service_of_a_multi_node_stateful_set() -> None:
    template = changed(
        node_of_group(), "spec.containers.0.command.2", "vllm serve m -tp 8 -pp 2 --nnodes 2 --node-rank $R"
    )
    peers = workload(template, kind="StatefulSet", replicas=2, serviceName="peers")
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "peers", "namespace": "llm"},
               "spec": {"clusterIP": "None", "selector": {"app": "chat"}}}  # fmt: skip
    rule = "headless-publish-not-ready"
    assert verdict(rule, peers, service) == "violation"
    assert verdict(rule, peers, changed(service, "spec.publishNotReadyAddresses", True)) == "pass"
    assert verdict(rule, peers, changed(service, "spec.clusterIP", "10.0.0.1")) == "pass"
    assert verdict(rule, peers, changed(service, "metadata.namespace", "other")) == "pass"
    assert verdict(rule, workload(kind="StatefulSet", replicas=2, serviceName="peers"), service) == "pass"
    assert verdict(rule, peers, changed(service, "spec.publishNotReadyAddresses", Unknown("x"))) == "undecided"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("^lo,docker", "violation"),
        ("=eth0", "violation"),
        ("eth0", "pass"),
        ("eth0,eth1", "pass"),
        (Unknown("x"), "undecided"),
    ],
)
def test_gloo_ifname_concrete(value: Any, expected: str) -> None:
    body = group(node_of_group(env=[{"name": "GLOO_SOCKET_IFNAME", "value": value}]))
    assert verdict("gloo-ifname-concrete", body) == expected


@pytest.mark.parametrize(
    ("env", "spec", "expected"),
    [
        ([], HOST_NET, "violation"),
        ([{"name": "GLOO_SOCKET_IFNAME", "value": "eth0"}], HOST_NET, "pass"),
        ([{"name": "VLLM_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}], HOST_NET, "pass"),
        ([], {}, "pass"),
        ([], {"hostNetwork": Unknown("hostNetwork")}, "undecided"),
    ],
)
def test_hostnetwork_gloo_ifname(env: list[Any], spec: dict[str, Any], expected: str) -> None:
    assert verdict("hostnetwork-gloo-ifname", group(node_of_group(env=env, **spec))) == expected


ANTI_AFFINITY = {
    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}]}
}


@pytest.mark.parametrize(
    ("spec", "replicas", "node", "gpus", "expected"),
    [
        (HOST_NET, 2, "p5.48xlarge", 1, "violation"),
        (HOST_NET, 2, "p5.48xlarge", 8, "pass"),
        (HOST_NET, 2, "g6e.xlarge", 1, "pass"),
        (HOST_NET, 2, None, 1, "advice"),
        (HOST_NET, 1, "p5.48xlarge", 1, "pass"),
        (HOST_NET | {"affinity": ANTI_AFFINITY}, 2, "p5.48xlarge", 1, "pass"),
        ({}, 2, "p5.48xlarge", 1, "pass"),
        (HOST_NET, Unknown("replicas"), "p5.48xlarge", 1, "undecided"),
    ],
)
def test_hostnetwork_port_spread(
    spec: dict[str, Any], replicas: Any, node: str | None, gpus: int, expected: str
) -> None:
    containers = [container(resources={"limits": {"nvidia.com/gpu": gpus}})]
    assert (
        verdict("hostnetwork-port-spread", workload(pod(node=node, containers=containers, **spec), replicas=replicas))
        == expected
    )


@pytest.mark.parametrize(
    ("value", "context", "expected"),
    [
        ("^lo,docker", {"addons": ["eks-pod-identity-agent"]}, "violation"),
        ("^lo,docker", {"addons": ["vpc-cni"]}, "pass"),
        ("^lo,docker", None, "advice"),
        ("^lo,pod-id", {"addons": ["eks-pod-identity-agent"]}, "pass"),
        ("^=lo,pod-id", {"addons": ["eks-pod-identity-agent"]}, "violation"),
        ("eth0", {"addons": ["eks-pod-identity-agent"]}, "pass"),
    ],
)
def test_nccl_ifname_pod_identity(value: str, context: dict[str, Any] | None, expected: str) -> None:
    body = group(node_of_group(env=[{"name": "NCCL_SOCKET_IFNAME", "value": value}], **HOST_NET))
    assert verdict("nccl-ifname-pod-identity", body, context=context) == expected


def test_nccl_ifname_sees_the_agent_among_a_programs_addons() -> None:
    body = group(node_of_group(env=[{"name": "NCCL_SOCKET_IFNAME", "value": "^lo"}], **HOST_NET))
    addon = pulumi("aws:eks/addon:Addon", addonName="eks-pod-identity-agent")
    assert verdict("nccl-ifname-pod-identity", body, addon) == "violation"
    assert (
        verdict(
            "nccl-ifname-pod-identity",
            group(node_of_group(env=[{"name": "NCCL_SOCKET_IFNAME", "value": "^lo"}])),
            addon,
        )
        == "pass"
    )


@pytest.mark.parametrize(
    ("path", "efa", "expected"),
    [
        ("/dev/infiniband", 32, "violation"),
        ("/dev/infiniband/uverbs0", 32, "violation"),
        ("/dev/infiniband", 0, "advice"),
        ("/dev/nvme0", 32, "pass"),
        (Unknown("path"), 32, "undecided"),
    ],
)
def test_no_dev_infiniband_hostpath(path: Any, efa: int, expected: str) -> None:
    template = changed(node_of_group(efa=efa), "spec.volumes", [{"name": "ib", "hostPath": {"path": path}}])
    assert verdict("no-dev-infiniband-hostpath", group(template)) == expected


@pytest.mark.parametrize(
    ("image", "script", "expected"),
    [
        ("vllm/vllm-openai:v0.19.1", "ray start --head; vllm serve m --distributed-executor-backend ray", "violation"),
        (
            "vllm/vllm-openai:v0.33.0",
            "bash /vllm-workspace/examples/ray_serving/multi-node-serving.sh worker",
            "violation",
        ),
        ("vllm/vllm-openai:v0.33.0", "vllm serve m --distributed-executor-backend=ray", "violation"),
        ("vllm/vllm-openai:v0.33.0", "pip install 'ray[default]' && ray start --head && vllm serve m", "pass"),
        ("vllm/vllm-openai:v0.8.5", "ray start --head; vllm serve m", "pass"),
        ("ours/vllm-ray:v0.33.0", "ray start --head; vllm serve m", "pass"),
        ("vllm/vllm-openai:v0.33.0", "vllm serve m", "pass"),
        (Unknown("image"), "ray start --head", "undecided"),
    ],
)
def test_ray_present_in_image(image: Any, script: str, expected: str) -> None:
    assert verdict("ray-present-in-image", served(command=["sh", "-c", script], args=None, image=image)) == expected
