"""The comment on what the real engine wrote."""

from __future__ import annotations

import pytest

from report.comment import LARGEST, MARKER, comment
from report.judgement import Judgement, judge
from tests.report.event_logs import recorded


def judged(name: str, *acknowledged: str) -> Judgement:
    return judge(recorded(name), acknowledged)


def shown(name: str) -> str:
    text = comment([judged(name)])
    assert text.startswith(f"{MARKER}\n")
    assert len(text) < LARGEST
    return text


@pytest.mark.parametrize("name", ["no-change", "aws-no-change"])
def test_no_change(name: str) -> None:
    assert judged(name).problems == ()
    assert judged(name).hazards == ()
    assert "No resource changes." in shown(name)


def test_a_new_image_restarts_the_pods_and_passes() -> None:
    assert judged("image-change").problems == ()
    assert [(hazard.what, hazard.change.label) for hazard in judged("image-change").hazards] == [
        ("restart", "Deployment/vllm-llama3-70b")
    ]
    assert (
        "image</code>: <code>vllm/vllm-openai:v0.33.0</code> → <code>registry.example.com/mirror/vllm-openai:v0.33.0"
        in shown("image-change")
    )


def test_a_replaced_namespace_names_what_ends_with_it() -> None:
    found = {hazard.change.label: hazard for hazard in judged("namespace-replaced").hazards}
    assert found.keys() == {"PersistentVolumeClaim/model-cache", "Namespace/namespace", "Deployment/vllm-llama3-70b"}
    assert "all its pods end at once" in found["Deployment/vllm-llama3-70b"].meaning
    assert "Because of <code>metadata.namespace</code>" in shown("namespace-replaced")


def test_components_are_not_counted_beside_their_children() -> None:
    assert "gpu-inference:index" not in shown("namespace-replaced")
    assert "| <code>sandbox</code> | ✅&nbsp;passes | 7 replaced |" in shown("namespace-replaced")


def test_a_violation_fails_with_its_fix() -> None:
    assert judged("policy-violation").problems == ("1 policy violation",)
    assert "❌ violates <code>shm-size</code>: Deployment/vllm-llama3-70b" in shown("policy-violation")
    assert "mount an emptyDir with medium: Memory" in shown("policy-violation")


def test_a_program_that_stops_is_quoted() -> None:
    assert judged("bad-stack-file").problems == ("the preview failed",)
    assert "input should be less than or equal to 10000000" in shown("bad-stack-file")


def test_a_smaller_gpu_group_is_a_drain_and_half_the_cost() -> None:
    judgement = judged("aws-group-smaller")
    assert judgement.problems == ("**1 replacement or drain not acknowledged**",)
    assert "the number of nodes falls from 2 to 1 (p5.48xlarge)" in shown("aws-group-smaller")
    assert "| GPUs | 16 | **8** |" in shown("aws-group-smaller")
    assert "| USD per hour | 110.08 | **55.04** |" in shown("aws-group-smaller")
    assert "55.04 USD, us-east-1, seen 2025-06-01" in shown("aws-group-smaller")


def test_a_new_template_version_drains_the_group_that_takes_it() -> None:
    found = judged("aws-template-change").hazards
    assert [(hazard.what, hazard.change.label, hazard.needs_acknowledgement) for hazard in found] == [
        ("drain", "NodeGroup/p5", True),
        ("update", "LaunchTemplate/p5", False),
    ]


def test_the_cluster_and_gpu_groups_come_first() -> None:
    labels = [hazard.change.label for hazard in judged("aws-cluster-replaced").hazards]
    assert labels[:2] == ["Cluster/cluster-eksCluster", "NodeGroup/p5"]
    assert labels[-1] == "NodeGroup/system"
    assert "aws-cluster" not in shown("aws-cluster-replaced")
    assert "currently marked for protection" in shown("aws-cluster-replaced")


def test_a_group_without_gpus_needs_no_acknowledgement() -> None:
    open_ones = {hazard.change.label for hazard in judged("aws-cluster-replaced").unacknowledged}
    assert open_ones == {"Cluster/cluster-eksCluster", "NodeGroup/p5"}


def test_reserved_gpus_that_move_to_another_zone_are_a_replacement() -> None:
    group = judged("aws-zone-change").hazards[0]
    assert (group.what, group.change.label) == ("replace", "NodeGroup/p5")
    assert "the old group goes first" in group.meaning


def test_an_acknowledged_drain_passes_and_stays_visible() -> None:
    judgement = judged("aws-group-smaller", "acknowledge: drain NodeGroup/p5 in prod")
    assert judgement.problems == ()
    assert "⚠️&nbsp;drained" in comment([judgement])
    assert "**Acknowledged.**" in comment([judgement])


def test_user_data_is_never_shown() -> None:
    template = next(
        change for change in recorded("aws-cluster-replaced").changes if change.label == "LaunchTemplate/p5"
    )
    assert template.new["userData"]
    assert template.new["userData"] not in shown("aws-cluster-replaced")


def test_errors_name_resources_as_people_do() -> None:
    text = shown("aws-cluster-replaced")
    assert 'unable to replace resource "Cluster/cluster-eksCluster" as it is' in text
    assert "urn:pulumi" not in text
