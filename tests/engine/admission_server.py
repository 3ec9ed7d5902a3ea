"""The admission policies on a real API server, asked by dry runs: what each of them says about an object."""

from __future__ import annotations

import http.client
import json
import re
import time
from dataclasses import dataclass
from typing import Any

import yaml

from policies.admission.exceptions import AdmissionException, config_map_body
from policies.admission.objects import NAMESPACE_LABEL, bodies
from policies.admission.registry import admission_rules
from policies.configuration import Configuration
from sandbox.api import Api, ApiError, tls_context
from sandbox.certificates import CLUSTER_AUTHORITY
from sandbox.control_plane import Sandbox
from sandbox.ports import LOOPBACK
from toolchain.installed import crd_files

Object = dict[str, Any]
NAMESPACE, EXCEPTIONS_NAMESPACE = "admission-tests", "admission-tests-exceptions"
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_RULE_OF_A_WARNING = re.compile(
    r"ValidatingAdmissionPolicy '([a-z-]+)\.policies\.gpu-inference' with binding '[^']+': (.*)"
)
_COLLECTIONS = {
    "Pod": "/api/v1/namespaces/{}/pods",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "CronJob": "/apis/batch/v1/namespaces/{}/cronjobs",
    "LeaderWorkerSet": "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets",
    "ScaledObject": "/apis/keda.sh/v1alpha1/namespaces/{}/scaledobjects",
    "HorizontalPodAutoscaler": "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers",
}


def collection(kind: str, namespace: str = NAMESPACE) -> str | None:
    """The path of a kind's objects; None for a kind that admission doesn't judge."""
    return _COLLECTIONS[kind].format(namespace) if kind in _COLLECTIONS else None


@dataclass(frozen=True)
class Answer:
    """What a dry run said: HTTP status, the server's message, and the sentence of each rule that warned."""

    status: int
    message: str
    warnings: dict[str, str]

    @property
    def rules(self) -> set[str]:
        """The rules that warned."""
        return set(self.warnings)


class AdmissionServer:
    """The policies, installed for namespaces of its own: one where they warn, so that each one's verdict shows."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        port = sandbox.folder.read_state().ports["kube-apiserver"]
        context = tls_context(sandbox.folder.certificates, CLUSTER_AUTHORITY, "administrator")
        self._connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=20, context=context)

    def install(self, configuration: Configuration, exceptions: tuple[AdmissionException, ...] = ()) -> None:
        """Create or change the policies and wait until the API server asks each of them."""
        with self.sandbox.api() as api:
            for name, labels in ((EXCEPTIONS_NAMESPACE, {}), (NAMESPACE, dict([NAMESPACE_LABEL]))):
                _apply(
                    api, f"/api/v1/namespaces/{name}", "v1", "Namespace", {"metadata": {"name": name, "labels": labels}}
                )
            for file in crd_files("keda"):
                if file.stem.endswith("scaledobjects"):
                    definition = yaml.safe_load(file.read_text(encoding="utf-8"))
                    api.apply(f"{_CRDS}/{definition['metadata']['name']}", definition)
            api.apply(f"{_CRDS}/{_LEADER_WORKER_SETS['metadata']['name']}", _LEADER_WORKER_SETS)
            exceptions_body = config_map_body(EXCEPTIONS_NAMESPACE, exceptions)
            path = f"/api/v1/namespaces/{EXCEPTIONS_NAMESPACE}/configmaps/{exceptions_body['metadata']['name']}"
            _apply(api, path, "v1", "ConfigMap", exceptions_body)
            found = bodies(admission_rules().values(), configuration, EXCEPTIONS_NAMESPACE)
            for policy, binding in found:
                name = policy["metadata"]["name"]
                version = "admissionregistration.k8s.io/v1"
                _apply(api, f"{_POLICIES}/{name}", version, "ValidatingAdmissionPolicy", policy)
                _apply(api, f"{_BINDINGS}/{name}", version, "ValidatingAdmissionPolicyBinding", binding)

    def remove(self) -> None:
        """Delete the policies and the namespaces."""
        with self.sandbox.api() as api:
            for rule in admission_rules():
                api.delete(f"{_BINDINGS}/{rule}.policies.gpu-inference")
                api.delete(f"{_POLICIES}/{rule}.policies.gpu-inference")
            for name in (NAMESPACE, EXCEPTIONS_NAMESPACE):
                api.delete(f"/api/v1/namespaces/{name}")
        self._connection.close()

    def policies(self) -> list[Object]:
        """The policies as the API server has them, with what its type checker says."""
        with self.sandbox.api() as api:
            return [
                item for item in api.items(_POLICIES) if item["metadata"]["name"].endswith(".policies.gpu-inference")
            ]

    def dry_run(self, manifest: Object, namespace: str = NAMESPACE) -> Answer:
        """What the API server answers to the creation of ``manifest``, without creating it."""
        path = collection(manifest["kind"], namespace)
        body = manifest | {"metadata": manifest.get("metadata", {}) | {"namespace": namespace}}
        self._connection.request("POST", f"{path}?dryRun=All", json.dumps(body), {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        answer = json.loads(response.read())
        warnings = {}
        for header in response.headers.get_all("Warning") or []:
            text = header.encode("latin-1", "replace").decode("utf-8", "replace").replace('\\"', '"')
            if match := _RULE_OF_A_WARNING.search(text):
                warnings[match.group(1)] = match.group(2)
        return Answer(response.status, str(answer.get("message", "")), warnings)

    def until(self, manifest: Object, seconds: float = 30, **wanted: Any) -> Answer:
        """Ask until the answer has these attributes: the API server takes changed policies a moment later."""
        deadline = time.monotonic() + seconds
        while True:
            answer = self.dry_run(manifest)
            if all(getattr(answer, name) == value for name, value in wanted.items()) or time.monotonic() > deadline:
                return answer
            time.sleep(0.1)


def _apply(api: Api, path: str, version: str, kind: str, body: Object) -> None:
    deadline = time.monotonic() + 15
    while True:
        try:
            api.apply(path, {"apiVersion": version, "kind": kind} | body)
        except ApiError as error:  # a namespace that is being deleted, a definition not served yet
            if error.status == http.client.UNPROCESSABLE_ENTITY or time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


# The real definition is no part of the toolchain: this one takes any group, and no policy here relies on its schema.
_LEADER_WORKER_SETS: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "leaderworkersets.leaderworkerset.x-k8s.io",
        "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
    },
    "spec": {
        "group": "leaderworkerset.x-k8s.io",
        "scope": "Namespaced",
        "names": {"kind": "LeaderWorkerSet", "plural": "leaderworkersets", "singular": "leaderworkerset"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
