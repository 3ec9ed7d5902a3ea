"""The running control plane: nodes, scheduling, volumes, admission and access are the real thing."""

from __future__ import annotations

import dataclasses
import http.client
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from sandbox.api import ApiError, Object
from sandbox.node_groups import NodeGroup
from tests.sandbox.simulated_nodes import node_group, up

if TYPE_CHECKING:
    from sandbox.control_plane import Sandbox

pytestmark = pytest.mark.engine
Eventually = Callable[[Callable[[], bool]], bool]
GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def pod(name: str, limits: dict[str, str], **spec: Any) -> Object:
    container = {"name": "main", "image": "none", "resources": {"limits": limits}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "test"}},
        "spec": {"containers": [container], **spec},
    }


def running_on(sandbox: Sandbox, namespace: str, name: str) -> str | None:
    """The node of a pod that is Running and Ready; None before."""
    with sandbox.api() as api:
        found = api.request("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")
    ready = {"type": "Ready", "status": "True"}.items()
    is_ready = any(ready <= condition.items() for condition in found["status"].get("conditions", []))
    return found["spec"].get("nodeName") if is_ready else None


def unschedulable(sandbox: Sandbox, namespace: str, name: str) -> str:
    """What the scheduler says about a pod that it can't place."""
    with sandbox.api() as api:
        found = api.request("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")
    return next((c.get("message", "") for c in found["status"].get("conditions", []) if c["status"] == "False"), "")


def test_nodes_are_ready_with_what_was_declared(sandbox: Sandbox) -> None:
    status = sandbox.status()
    assert status.healthy
    nodes = {node["metadata"]["name"]: node for node in status.nodes}
    assert set(nodes) == {"system-1", "system-2", "p5-1", "p5-2"}
    offered = nodes["p5-1"]["status"]["allocatable"]
    assert {name: offered[name] for name in ("nvidia.com/gpu", "vpc.amazonaws.com/efa", "pods", "cpu")} == {
        "nvidia.com/gpu": "8",
        "vpc.amazonaws.com/efa": "32",
        "pods": "51",
        "cpu": "191450m",
    }
    assert "nvidia.com/gpu" not in nodes["system-1"]["status"]["allocatable"]


def test_the_scheduler_places_gpu_pods_until_the_gpus_are_gone(
    sandbox: Sandbox, namespace: str, eventually: Eventually
) -> None:
    names = [f"gpu-{number}" for number in range(5)]
    with sandbox.api() as api:
        for name in names:
            body = pod(name, {"nvidia.com/gpu": "4"}, tolerations=[GPU_TOLERATION])
            api.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)

    def placed() -> list[str]:
        return [node for name in names if (node := running_on(sandbox, namespace, name))]

    assert eventually(lambda: len(placed()) == 4)
    assert sorted(placed()) == ["p5-1", "p5-1", "p5-2", "p5-2"]
    [left] = [name for name in names if not running_on(sandbox, namespace, name)]
    assert "Insufficient nvidia.com/gpu" in unschedulable(sandbox, namespace, left)


def test_a_pod_without_toleration_stays_off_the_gpu_nodes(
    sandbox: Sandbox, namespace: str, eventually: Eventually
) -> None:
    with sandbox.api() as api:
        api.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod("bare", {"nvidia.com/gpu": "1"}))
    assert eventually(lambda: "untolerated taint" in unschedulable(sandbox, namespace, "bare"))


def test_shared_claims_bind_and_their_volumes_go_with_them(
    sandbox: Sandbox, namespace: str, eventually: Eventually
) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "cache"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "500Gi"}}},
    }
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    with sandbox.api() as api:
        api.request("POST", path, claim)
        assert eventually(lambda: api.request("GET", f"{path}/cache")["status"]["phase"] == "Bound")
        bound = api.request("GET", f"{path}/cache")
        assert bound["spec"]["storageClassName"] == "sandbox-rwx"
        assert bound["status"]["accessModes"] == ["ReadWriteMany"]
        assert bound["status"]["capacity"] == {"storage": "500Gi"}
        api.delete(f"{path}/cache")
        assert eventually(lambda: not api.items("/api/v1/persistentvolumes"))


def test_a_deployment_becomes_available_and_its_deletion_takes_the_pods(
    sandbox: Sandbox, namespace: str, eventually: Eventually
) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    template = pod("unused", {"nvidia.com/gpu": "4"}, tolerations=[GPU_TOLERATION])
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "server"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "test"}},
            "template": {"metadata": {"labels": {"app": "test"}}, "spec": template["spec"]},
        },
    }
    with sandbox.api() as api:
        api.request("POST", path, deployment)
        assert eventually(lambda: api.request("GET", f"{path}/server")["status"].get("availableReplicas") == 2)
        api.delete(f"{path}/server")
        assert eventually(lambda: not api.items(f"/api/v1/namespaces/{namespace}/pods"))


def test_pod_security_admission_is_real(sandbox: Sandbox, namespace: str) -> None:
    labels = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    with sandbox.api() as api:
        api.request("PATCH", f"/api/v1/namespaces/{namespace}", labels, "application/merge-patch+json")
        with pytest.raises(ApiError, match="violates PodSecurity") as caught:
            api.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod("loose", {}))
    assert caught.value.status == http.client.FORBIDDEN


def test_a_validating_admission_policy_is_enforced(sandbox: Sandbox, namespace: str, eventually: Eventually) -> None:
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-forbidden"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "object.metadata.name != 'forbidden'", "message": "that name is taken"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-forbidden"},
        "spec": {"policyName": "no-forbidden", "validationActions": ["Deny"]},
    }
    forbidden = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "forbidden"}}

    with sandbox.api() as api:

        def denied() -> bool:
            try:
                api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps?dryRun=All", forbidden)
            except ApiError as error:
                return "that name is taken" in str(error)
            return False

        api.request("POST", policies, policy)
        api.request("POST", bindings, binding)
        try:
            assert eventually(denied)
        finally:
            api.delete(f"{bindings}/no-forbidden")
            api.delete(f"{policies}/no-forbidden")


def test_rbac_denies_a_service_account_what_nobody_granted(
    sandbox: Sandbox, namespace: str, eventually: Eventually
) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{namespace}:default",
            "resourceAttributes": {"namespace": namespace, "verb": "delete", "resource": "pods"},
        },
    }
    with sandbox.api() as api:
        answer = api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        assert eventually(lambda: bool(api.items(accounts)))
    assert answer["status"]["allowed"] is False


def test_the_server_is_verified_by_the_kubeconfigs_authority_and_nobody_gets_in_without_a_certificate(
    sandbox: Sandbox,
) -> None:
    cluster = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))["clusters"][0]["cluster"]
    port = int(cluster["server"].rpartition(":")[2])
    assert sandbox.kubeconfig.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ssl.SSLCertVerificationError):
        http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context()).request("GET", "/api")
    authority = sandbox.folder.certificates / "cluster-authority.crt"
    trusted = ssl.create_default_context(cafile=str(authority))
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusted)
    connection.request("GET", "/api/v1/secrets")
    assert connection.getresponse().status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN)
    connection.close()


def test_changed_groups_add_replace_and_remove_nodes_and_pods_move(
    sandbox: Sandbox, namespace: str, groups: tuple[NodeGroup, ...], eventually: Eventually
) -> None:
    system, p5 = groups
    with sandbox.api() as api:
        uids = {node["metadata"]["name"]: node["metadata"]["uid"] for node in api.items("/api/v1/nodes")}
        body = pod("gpu", {"nvidia.com/gpu": "8"}, tolerations=[GPU_TOLERATION], nodeName="p5-2")
        api.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)
        assert eventually(lambda: running_on(sandbox, namespace, "gpu") == "p5-2")

        bigger = node_group("system", "m7i.2xlarge", 2, system.zones)
        up(sandbox, (bigger, dataclasses.replace(p5, count=1)))

        nodes = {node["metadata"]["name"]: node for node in api.items("/api/v1/nodes")}
        assert set(nodes) == {"system-1", "system-2", "p5-1"}
        assert nodes["p5-1"]["metadata"]["uid"] == uids["p5-1"]
        assert nodes["system-1"]["metadata"]["uid"] != uids["system-1"]
        assert nodes["system-1"]["status"]["capacity"]["cpu"] == "8"
        assert not api.items(f"/api/v1/namespaces/{namespace}/pods")
