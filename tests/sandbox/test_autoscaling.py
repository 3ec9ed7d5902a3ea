"""KEDA's stand-in: once a stack has brought KEDA's CRDs, a ScaledObject gets the HPA that KEDA would make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
import yaml

from sandbox.autoscaling import scaled_objects_served
from sandbox.node_groups import NodeGroup
from tests.sandbox.simulated_nodes import up

if TYPE_CHECKING:
    from sandbox.control_plane import Sandbox

pytestmark = pytest.mark.engine
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/scaledobjects.keda.sh"


@pytest.fixture
def keda_crd(sandbox: Sandbox) -> Iterator[None]:
    """The ScaledObject CRD, as a stack brings it, deleted afterwards."""
    from toolchain.installed import crd_files

    [path] = [path for path in crd_files("keda") if path.name == "keda.sh_scaledobjects.yaml"]
    with sandbox.api() as api:
        api.apply(CRD, yaml.safe_load(path.read_text(encoding="utf-8")))
        yield
        api.delete(CRD)


@pytest.mark.usefixtures("keda_crd")
def test_a_scaled_object_gets_its_autoscaler_and_a_cluster_without_the_crd_none(
    sandbox: Sandbox,
    groups: tuple[NodeGroup, ...],
    namespace: str,
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    trigger = {"type": "prometheus", "metadata": {"serverAddress": "http://none", "query": "q", "threshold": "5"}}
    scaled = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "server"},
        "spec": {
            "scaleTargetRef": {"name": "server"},
            "minReplicaCount": 2,
            "maxReplicaCount": 4,
            "triggers": [trigger],
        },
    }
    path = f"/apis/keda.sh/v1alpha1/namespaces/{namespace}/scaledobjects"
    autoscalers = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"

    with sandbox.api() as api:
        assert eventually(lambda: scaled_objects_served(api))
        up(sandbox, groups)
        api.request("POST", path, scaled)
        assert eventually(lambda: bool(api.items(autoscalers)))
        [autoscaler] = api.items(autoscalers)
        spec = autoscaler["spec"]
        assert (spec["minReplicas"], spec["maxReplicas"], spec["scaleTargetRef"]["name"]) == (2, 4, "server")

        api.delete(f"{path}/server")
        api.delete(CRD)
        assert eventually(lambda: not scaled_objects_served(api))
    up(sandbox, groups)
    assert sandbox.status().healthy
