"""model-endpoint-exposure: load balancers on the internet that lead straight to vLLM."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.builders import UNKNOWN, Object, judge, manifest, server, service, web

RULE = "model-endpoint-exposure"
SCHEME = "service.beta.kubernetes.io/aws-load-balancer-scheme"
KEYED = server("chat", "--api-key=$(KEY)")


def load_balancer(scheme: Any = "internet-facing", **spec: Any) -> Object:
    found = service(annotations={SCHEME: scheme})
    found["spec"] |= {"type": "LoadBalancer", **spec}
    return found


def ingress(**annotations: Any) -> Object:
    backend = {"service": {"name": "chat", "port": {"number": 8000}}}
    spec = {"ingressClassName": "alb", "rules": [{"http": {"paths": [{"path": "/", "backend": backend}]}}]}
    keys = {f"alb.ingress.kubernetes.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return manifest("networking.k8s.io/v1", "Ingress", "chat", spec, annotations=keys)


def test_a_service_on_the_internet() -> None:
    assert judge(RULE, server(), load_balancer()) == ["violation Service/chat"]
    assert judge(RULE, KEYED, load_balancer()) == ["advice Service/chat"]
    everybody = load_balancer(loadBalancerSourceRanges=["0.0.0.0/0"])
    assert judge(RULE, server(), everybody) == ["violation Service/chat"]


@pytest.mark.parametrize(
    "exposed",
    [
        load_balancer("internal"),
        load_balancer(type="ClusterIP"),
        load_balancer(loadBalancerSourceRanges=["203.0.113.0/24"]),
        service(),
    ],
)
def test_services_that_the_internet_does_not_reach(exposed: Object) -> None:
    assert judge(RULE, server(), exposed) == []


@pytest.mark.parametrize(
    ("annotations", "verdict"),
    [
        ({"scheme": "internet-facing"}, "violation"),
        ({"scheme": "internet-facing", "inbound_cidrs": "203.0.113.0/24, 0.0.0.0/0"}, "violation"),
        ({"scheme": "internet-facing", "auth_type": "none"}, "violation"),
        ({"scheme": "internet-facing", "auth_type": "oidc"}, None),
        ({"scheme": "internet-facing", "inbound_cidrs": "203.0.113.0/24"}, None),
        ({"scheme": "internal"}, None),
        ({}, None),
        ({"scheme": UNKNOWN}, "undecided"),
    ],
)
def test_ingresses(annotations: Object, verdict: str | None) -> None:
    expected = [f"{verdict} Ingress/chat"] if verdict else []
    assert judge(RULE, server(), service(), ingress(**annotations)) == expected


def test_other_workloads_are_not_its_business() -> None:
    assert judge(RULE, web("chat"), load_balancer()) == []
    assert judge(RULE, load_balancer()) == []
    assert judge(RULE, web("chat"), service(), ingress(scheme="internet-facing")) == []
