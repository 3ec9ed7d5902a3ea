"""endpoint-picker-failure-mode: stated or left to a default."""

from __future__ import annotations

import pytest

from tests.policies.builders import UNKNOWN, Object, judge, manifest

RULE = "endpoint-picker-failure-mode"


def pool(**spec: object) -> Object:
    return manifest("inference.networking.k8s.io/v1", "InferencePool", "chat", spec)


@pytest.mark.parametrize("key", ["endpointPickerRef", "extensionRef"])
def test_the_mode_is_stated_or_advised(key: str) -> None:
    assert judge(RULE, pool(**{key: {"name": "epp"}})) == ["advice InferencePool/chat"]
    assert judge(RULE, pool(**{key: {"name": "epp", "failureMode": "FailOpen"}})) == []
    assert judge(RULE, pool(**{key: UNKNOWN})) == ["undecided InferencePool/chat"]


def test_a_pool_without_a_picker_is_not_its_business() -> None:
    assert judge(RULE, pool()) == []
