"""The pack gives the verdicts of ``policies.check`` on what the engine sends, quickly, and never blocks by advice."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime import proto
from pulumi_policy import policy as sdk
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from policies import pack
from policies.configuration import Configuration
from policies.evaluate import findings
from policies.loading import load
from policies.model import ResourceSet
from policies.references import with_references
from policies.registry import rules
from policies.unknowns import Unknown, is_unknown
from tests.policies.manifests import changed, served, shared_memory, workload

DATA = Path(__file__).parents[1] / "cases" / "data"
TOKEN = "kubernetes:apps/v1:Deployment"
URN = "urn:pulumi:s::p::kubernetes:apps/v1:Deployment::chat"
TP4 = served("meta-llama/Llama-3.3-70B-Instruct", "--tensor-parallel-size=4", gpus=4)
MADE = {policy.name: policy for policy in pack.policies()}


def analyzer() -> pack.Analyzer:
    return pack.Analyzer("gpu-inference", "0.0.1", list(MADE.values()), sdk.EnforcementLevel.ADVISORY, None)


def request(body: dict[str, Any], token: str = TOKEN, urn: str = URN) -> Any:
    made = proto.AnalyzeRequest(type=token, urn=urn, name="chat")
    made.properties.update(json.loads(json.dumps(body)))
    return made


def said(response: Any, rule: str) -> list[tuple[int, str]]:
    return [(row.enforcementLevel, row.message) for row in response.diagnostics if row.policyName == rule]


def analysed(body: dict[str, Any], rule: str, token: str = TOKEN) -> list[tuple[int, str]]:
    return said(analyzer().Analyze(request(body, token), None), rule)


def test_one_policy_a_rule_and_one_for_waivers_at_a_level_stated_by_the_rule() -> None:
    assert set(MADE) == {*rules(), "waiver-valid"}
    for name, rule in rules().items():
        kind = sdk.ResourceValidationPolicy if rule.scope == "object" else sdk.StackValidationPolicy
        assert isinstance(MADE[name], kind)
        assert MADE[name].enforcement_level == sdk.EnforcementLevel(rule.severity)
        assert MADE[name].remediation_steps == rule.fix


def test_a_violation_is_mandatory_and_names_object_and_remedy() -> None:
    ((level, message),) = analysed(TP4, "shm-size")
    assert level == proto.MANDATORY
    assert "Deployment/chat" in message
    assert "sizeLimit: 16Gi" in message


def test_what_passes_says_nothing() -> None:
    good = served("meta-llama/Llama-3.3-70B-Instruct", "-tp=4", gpus=4, **shared_memory())
    assert analysed(good, "shm-size") == []


def test_what_is_not_known_yet_is_said_and_never_blocks() -> None:
    unknown = changed(TP4, "spec.template.spec.volumes", UNKNOWN_STRING_VALUE)
    with_mount = changed(
        unknown, "spec.template.spec.containers.0.volumeMounts", [{"name": "s", "mountPath": "/dev/shm"}]
    )
    ((level, message),) = analysed(with_mount, "shm-size")
    assert level == proto.ADVISORY
    assert "not decided yet" in message
    assert "spec.template.spec.volumes" in message


def test_advice_and_waived_findings_stay_visible_and_never_block() -> None:
    waived = changed(
        served("m", "--no-enable-prefix-caching"),
        "metadata.annotations",
        {"policies.gpu-inference/waive-prefix-caching-on": "reason: r; owner: o; until: 2999-01-01"},
    )
    ((level, message),) = analysed(waived, "prefix-caching-on")
    assert level == proto.ADVISORY
    assert message.splitlines()[1].startswith("waived:")


def test_an_expired_waiver_blocks() -> None:
    body = changed(
        workload(),
        "metadata.annotations",
        {"policies.gpu-inference/waive-shm-size": "reason: r; owner: o; until: 2020-01-01"},
    )
    ((level, message),) = analysed(body, "waiver-valid")
    assert level == proto.MANDATORY
    assert "expired" in message


def test_a_secret_never_appears_in_a_message() -> None:
    secret = {
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        "value": "hf_abcdefghijklmnopqrstuvwx",
    }
    body = served("m", env=[{"name": "HF_TOKEN", "value": secret}, {"name": "VLLM_API_KEY", "value": secret}])
    response = analyzer().Analyze(request(body), None)
    assert said(response, "hf-token-secret")
    assert said(response, "secret-in-args")
    assert all("hf_abc" not in row.message for row in response.diagnostics)


def test_the_engines_configuration_sets_levels_parameters_and_waivers() -> None:
    servicer = analyzer()
    configured = proto.ConfigureAnalyzerRequest()
    configured.policyConfig["shm-size"].enforcementLevel = proto.ADVISORY
    configured.policyConfig["shm-size"].properties.update({"gib_per_rank": 100})
    waiver = {"object": "Deployment/chat", "reason": "r", "owner": "o", "until": "2999-01-01"}
    configured.policyConfig["tp-matches-gpus"].enforcementLevel = proto.MANDATORY
    configured.policyConfig["tp-matches-gpus"].properties.update({"waivers": [waiver]})
    servicer.Configure(configured, None)
    body = served("m", "-tp=4", gpus=8, **shared_memory("64Gi"))
    response = servicer.Analyze(request(body), None)
    ((level, _),) = said(response, "shm-size")
    assert level == proto.ADVISORY
    ((level, message),) = said(response, "tp-matches-gpus")
    assert level == proto.ADVISORY
    assert "waived" in message


def test_set_rules_see_the_whole_stack() -> None:
    stack = proto.AnalyzeStackRequest()
    linked = changed(workload(), "spec.template.spec.enableServiceLinks", True)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "vllm", "namespace": "llm"}, "spec": {}}
    for token, body in ((TOKEN, linked), ("kubernetes:core/v1:Service", service), ("aws:s3/bucket:Bucket", {"x": 1})):
        row = request(body, token, urn=f"urn:{token}")
        stack.resources.add(type=row.type, urn=row.urn, name=row.name, properties=row.properties)
    ((level, message),) = said(analyzer().AnalyzeStack(stack, None), "service-name-vllm")
    assert level == proto.MANDATORY
    assert "Service/vllm" in message


def test_what_nobody_stated_and_nobody_knows_is_no_value() -> None:
    """The outputs of a node group hold diskSize as unknown in every preview; a program that states it is told."""
    group = "aws:eks/nodeGroup:NodeGroup"
    urn = f"urn:pulumi:s::p::{group}::chat"
    inputs = {"launchTemplate": {"id": "lt-0123456789abcdef0", "version": "1"}, "subnetIds": ["subnet-1"]}
    for stated, expected in (({}, []), ({"diskSize": UNKNOWN_STRING_VALUE}, [proto.MANDATORY])):
        servicer, stack = analyzer(), proto.AnalyzeStackRequest()
        servicer.Analyze(request(inputs | stated, group, urn), None)
        row = stack.resources.add(type=group, urn=urn, name="chat")
        row.properties.update(inputs | {"diskSize": UNKNOWN_STRING_VALUE})
        found = said(servicer.AnalyzeStack(stack, None), "nodegroup-vs-template-fields")
        assert [level for level, _ in found] == expected


def test_a_resource_that_no_rule_knows_is_not_even_read() -> None:
    class Unreadable:
        type = "random:index/randomId:RandomId"

    assert list(analyzer().Analyze(Unreadable(), None).diagnostics) == []


def test_a_preview_decides_over_ids_that_do_not_exist_yet() -> None:
    """A group over three subnets that this run creates: the engine knows which, though not their ids."""
    stack, zones = proto.AnalyzeStackRequest(), ("a", "b", "c")
    for zone in zones:
        subnet = {"availabilityZone": f"us-east-1{zone}", "id": UNKNOWN_STRING_VALUE}
        row = request(subnet, "aws:ec2/subnet:Subnet", urn=f"urn:subnet-{zone}")
        stack.resources.add(type=row.type, urn=row.urn, name=zone, properties=row.properties)
    group = {
        "instanceTypes": ["p4d.24xlarge"],
        "subnetIds": [UNKNOWN_STRING_VALUE] * 3,
        "amiType": "AL2023_x86_64_NVIDIA",
    }
    row = request(group, "aws:eks/nodeGroup:NodeGroup", urn="urn:group")
    added = stack.resources.add(type=row.type, urn=row.urn, name="p4d", properties=row.properties)
    assert [level for level, _ in said(analyzer().AnalyzeStack(stack, None), "single-az")] == [proto.ADVISORY]
    added.propertyDependencies["subnetIds"].urns.extend(f"urn:subnet-{zone}" for zone in zones)
    assert [level for level, _ in said(analyzer().AnalyzeStack(stack, None), "single-az")] == [proto.MANDATORY]


@pytest.mark.parametrize(
    ("body", "urns", "expected"),
    [
        ({"launchTemplate": {"id": Unknown("x"), "version": Unknown("y")}}, ["urn:t"], "urn:t"),
        ({"launchTemplate": {"id": "lt-1", "version": Unknown("y")}}, ["urn:t"], "lt-1"),
    ],
)
def test_one_dependency_stands_for_the_id_and_for_nothing_else(body: Any, urns: list[str], expected: str) -> None:
    template = with_references(body, {"launchTemplate": urns})["launchTemplate"]
    assert template["id"] == expected
    assert is_unknown(template["version"])


def test_references_that_fit_several_dependencies_stay_unknown() -> None:
    interfaces = [
        {"securityGroups": [Unknown("a")]},
        {"securityGroups": [Unknown("b")]},
        {"securityGroups": [Unknown("c")]},
    ]
    body = with_references({"networkInterfaces": interfaces}, {"networkInterfaces": ["urn:1", "urn:2"]})
    assert all(is_unknown(row["securityGroups"][0]) for row in body["networkInterfaces"])


CASES = sorted(
    path.parent.name for path in DATA.glob("*/input.*") if "context" not in (path.parent / "case.yaml").read_text()
)


@pytest.mark.parametrize("name", CASES)
def test_the_pack_and_the_check_agree_on_every_case(name: str) -> None:
    (path,) = (DATA / name).glob("input.*")
    resources = ResourceSet(load([str(path)]))
    checked = findings(rules().values(), resources, Configuration(), datetime.date.today())
    servicer, stack, blocking = analyzer(), proto.AnalyzeStackRequest(), set()
    for index, resource in enumerate(resources):
        version, _, kind = resource.type.rpartition("/")
        token = (
            f"kubernetes:{version if '/' in version else f'core/{version}'}:{kind}"
            if resource.is_kubernetes
            else resource.type
        )
        row = request(resource.body, token, urn=f"urn:{index}")
        row.name = resource.name
        stack.resources.add(type=row.type, urn=row.urn, name=row.name, properties=row.properties)
        blocking |= {
            diag.policyName
            for diag in servicer.Analyze(row, None).diagnostics
            if diag.enforcementLevel == proto.MANDATORY
        }
    answer = servicer.AnalyzeStack(stack, None)
    blocking |= {diag.policyName for diag in answer.diagnostics if diag.enforcementLevel == proto.MANDATORY}
    assert blocking == {item.rule for item in checked if item.verdict == "violation"}


@pytest.mark.parametrize("name", sorted(rules()))
def test_policies_also_work_in_the_sdks_own_servicer(name: str) -> None:
    """``validate`` on the SDK's proxies, unknown values among them: a violation is reported, nothing else raises."""
    unknown = changed(TP4, "spec.template.spec.nodeSelector", UNKNOWN_STRING_VALUE)
    reported: list[str] = []
    props = unknown_checking_proxy(unknown)
    with pytest.raises(UnknownValueError):
        _ = props["spec"]["template"]["spec"]["nodeSelector"]
    if isinstance(MADE[name], sdk.ResourceValidationPolicy):
        args: Any = sdk.ResourceValidationArgs(TOKEN, props, URN, "chat", None, None, None, None)
    else:
        args = sdk.StackValidationArgs(
            [sdk.PolicyResource(TOKEN, props, URN, "chat", None, None, None, [], {})], None, None
        )
    MADE[name].validate(args, lambda message, urn=None: reported.append(message))
    assert bool(reported) == (name == "shm-size")
