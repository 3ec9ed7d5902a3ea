"""The program installs the admission policies before the workload; the API server then refuses what is unsafe."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator
from typing import Any

import pytest

from policies.admission.registry import admission_rules
from sandbox.api import ApiError
from tests.engine.stack_runs import Run, StackRuns
from tests.policies import builders

pytestmark = pytest.mark.engine

NAMESPACE = "ai-inference"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap::admission"
COMPONENT = "gpu-inference:index:AdmissionPolicies::admission"
EXCEPTION: dict[str, Any] = {
    "rule": "shm-size",
    "object": "Deployment/excused",
    "reason": "a test",
    "owner": "tests",
    "until": "2999-12-31",
}
# A date without quotes, as people write it in YAML.
EXPIRED = EXCEPTION | {"object": "Deployment/expired", "until": datetime.date(2026, 1, 31)}


def with_admission(*exceptions: dict[str, Any]) -> Any:
    def change(config: dict[str, Any]) -> None:
        config["gpu-inference:admission"] = {"enabled": True, "exceptions": list(exceptions)}

    return change


def two_ranks(name: str, **metadata: Any) -> dict[str, Any]:
    """A Deployment of two GPU ranks without a memory volume at /dev/shm, and nothing else against it."""
    body = builders.server(name, "-tp", "2", "--shutdown-timeout", "20", gpus=2)
    body["metadata"] = {"name": name, "namespace": NAMESPACE, **metadata}
    return body


def create(runs: StackRuns, manifest: dict[str, Any], namespace: str = NAMESPACE, *, dry_run: bool = True) -> str:
    """Why the API server refuses an object, or an empty text."""
    manifest = manifest | {"metadata": manifest["metadata"] | {"namespace": namespace}}
    with runs.sandbox.api() as api:
        try:
            path = DEPLOYMENTS.replace(NAMESPACE, namespace)
            api.request("POST", path + ("?dryRun=All" if dry_run else ""), manifest)
        except ApiError as error:
            return str(error)
    return ""


def eventually_refused(runs: StackRuns, manifest: dict[str, Any]) -> bool:
    """Whether the API server comes to refuse an object within 30 s: it takes changed policies a moment later."""
    deadline = time.monotonic() + 30
    while "denied request" not in (answer := create(runs, manifest)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return "denied request" in answer


@pytest.fixture(scope="module")
def up(runs: StackRuns) -> Iterator[Run]:
    """The workload with admission on, one exception that holds and one that has expired."""
    file = runs.stack_file(with_admission(EXCEPTION, EXPIRED))
    assert runs.run("destroy", file).code == 0  # whatever another test left
    created = runs.run("up", file)
    assert created.code == 0, created.text
    assert eventually_refused(runs, two_ranks("unsafe"))
    yield created
    assert runs.run("destroy", file).code == 0


def test_every_policy_is_there_and_the_workload_came_after_them(up: Run) -> None:
    order = [
        event["resourcePreEvent"]["metadata"]["urn"].split("$")[-1].removeprefix("urn:pulumi:")
        for event in up.events
        if event.get("resourcePreEvent", {}).get("metadata", {}).get("op") == "create"
    ]
    names = [urn.split("::")[-1] for urn in order]
    policies = [f"{rule}.policies.gpu-inference" for rule in admission_rules()]
    for policy in policies:
        assert names.count(policy) == 2  # policy and binding
    last_policy = max(index for index, name in enumerate(names) if name in policies)
    claim = order.index("kubernetes:core/v1:PersistentVolumeClaim::model-cache")
    assert last_policy < min(claim, order.index("kubernetes:apps/v1:Deployment::vllm-llama3-70b"))


def test_an_unsafe_workload_is_refused_with_what_and_how(runs: StackRuns, up: Run) -> None:
    refused = create(runs, two_ranks("unsafe"))
    assert "shm-size.policies.gpu-inference" in refused
    assert "container vllm runs 2 GPU ranks on the runtime's 64 MiB of /dev/shm" in refused
    assert "mount an emptyDir with medium: Memory" in refused


def test_authors_can_not_excuse_themselves(runs: StackRuns, up: Run) -> None:
    waiver = {"policies.gpu-inference/waive-shm-size": "reason: mine; owner: me; until: 2999-12-31"}
    assert "shm-size" in create(runs, two_ranks("unsafe", annotations=waiver))


def test_other_namespaces_are_not_judged(runs: StackRuns, up: Run) -> None:
    assert create(runs, two_ranks("unsafe"), "default") == ""


def test_an_expired_exception_excuses_nothing_and_is_named(runs: StackRuns, up: Run) -> None:
    assert "shm-size for Deployment/expired in ai-inference ended on 2026-01-31" in up.text
    assert "shm-size" in create(runs, two_ranks("expired"))


def test_an_exception_lets_the_object_and_its_pods_pass(runs: StackRuns, up: Run) -> None:
    assert create(runs, two_ranks("excused"), dry_run=False) == ""
    pods: list[Any] = []
    deadline = time.monotonic() + 30
    with runs.sandbox.api() as api:
        while not pods and time.monotonic() < deadline:
            pods = api.items(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app%3Dexcused")
            time.sleep(0.2)
        assert pods, "the Deployment's own pods were refused"


def test_what_runs_already_can_be_labelled_scaled_and_deleted_but_not_changed(runs: StackRuns, up: Run) -> None:
    """The exception ends while the object runs: nobody is locked out of it."""
    changed = runs.run("up", runs.stack_file(with_admission()))
    assert changed.code == 0
    assert changed.steps()[CONFIG_MAP] == "update"  # in place: without its parameters every binding refuses
    path, merge = f"{DEPLOYMENTS}/excused", "application/merge-patch+json"
    assert eventually_refused(runs, two_ranks("excused"))
    with runs.sandbox.api() as api:
        api.request("PATCH", path, {"metadata": {"labels": {"team": "chat"}}}, merge)
        api.request("PATCH", f"{path}/scale", {"spec": {"replicas": 2}}, merge)
        with pytest.raises(ApiError, match="shm-size"):
            api.request("PATCH", path, {"spec": {"minReadySeconds": 5}}, merge)
        api.delete(path)


def test_a_second_up_changes_nothing(runs: StackRuns, up: Run) -> None:
    again = runs.run("up", runs.stack_file(with_admission()))
    assert (again.code, again.steps()) == (0, {})


def test_switched_off_it_is_gone(runs: StackRuns, up: Run) -> None:
    off = runs.run("up", runs.stack_file())
    assert off.code == 0, off.text
    assert off.steps()[COMPONENT] == "delete"
    assert off.steps()["kubernetes:core/v1:Namespace::namespace"] == "update"
    with runs.sandbox.api() as api:
        assert [item for item in api.items(POLICIES) if "gpu-inference" in item["metadata"]["name"]] == []
