"""Our own manifests, as the golden files hold them, pass without a waiver."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml

from policies.configuration import Configuration
from policies.evaluate import findings
from policies.loading import pulumi_resource
from policies.model import ResourceSet
from policies.registry import rules

GOLDEN = Path(__file__).parents[1] / "golden"
TOKENS = {
    "Deployment": "kubernetes:apps/v1:Deployment",
    "Service": "kubernetes:core/v1:Service",
    "PodDisruptionBudget": "kubernetes:policy/v1:PodDisruptionBudget",
    "PodMonitor": "kubernetes:monitoring.coreos.com/v1:PodMonitor",
    "ScaledObject": "kubernetes:keda.sh/v1alpha1:ScaledObject",
}


# The article pins a vLLM with known vulnerabilities: the rule says so, and the sandbox takes it as advice.
@pytest.mark.parametrize(
    ("name", "expected"), [("blueprint-vllm-0.33.0.yaml", set()), ("blueprint-vllm-0.6.3.yaml", {"image-cve"})]
)
def test_the_blueprints_workload(name: str, expected: set[str]) -> None:
    bodies = yaml.safe_load((GOLDEN / name).read_text(encoding="utf-8"))
    resources = ResourceSet([pulumi_resource(TOKENS[kind], kind.lower(), body) for kind, body in bodies.items()])
    found = findings(rules().values(), resources, Configuration(), datetime.date(2026, 11, 29))
    assert {item.rule for item in found if item.verdict == "violation"} == expected
