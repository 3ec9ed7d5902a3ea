"""No secret gets into a comment: marked ones, forgotten ones, and those in messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report.comment import comment
from report.judgement import judge
from report.redaction import scrubbed, secret_name
from tests.report.event_logs import policy, preview, step

VALUE = "correct-horse-battery"


def shown(kind: str, path: str, body: dict[str, Any]) -> str:
    return comment([judge(preview([step("update", kind, "thing", body, body, diff={path: "update"})]), ())])


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        ("kubernetes:core/v1:Secret", "data.x", {"data": {"x": VALUE}}),
        ("kubernetes:core/v1:Secret", "stringData.x", {"stringData": {"x": VALUE}}),
        ("aws:secretsmanager/secretVersion:SecretVersion", "secretString", {"secretString": VALUE}),
        ("aws:ssm/parameter:Parameter", "value", {"value": VALUE}),
        ("aws:rds/instance:Instance", "masterPassword", {"masterPassword": VALUE}),
        ("aws:ec2/launchTemplate:LaunchTemplate", "userData", {"userData": VALUE}),
        ("x:y:Z", "HF_TOKEN", {"HF_TOKEN": VALUE}),
        ("x:y:Z", "apiKey", {"apiKey": VALUE}),
        ("x:y:Z", "auth.user", {"auth": {"user": VALUE}}),
        ("kubernetes:apps/v1:Deployment", "env[0].value", {"env": [{"name": "HF_TOKEN", "value": VALUE}]}),
        ("kubernetes:apps/v1:Deployment", "args[0]", {"args": [f"--api-key={VALUE}"]}),
        ("kubernetes:apps/v1:Deployment", "args[0]", {"args": [f"--hf-token {VALUE}"]}),
        ("kubernetes:apps/v1:Deployment", "x", {"x": f"postgres://admin:{VALUE}@db.example/x"}),
    ],
)
def test_the_value_is_not_shown(kind: str, path: str, body: dict[str, Any]) -> None:
    assert VALUE not in shown(kind, path, body)


def test_other_values_are() -> None:
    assert VALUE in shown("kubernetes:apps/v1:Deployment", "x", {"x": VALUE})


def test_a_value_that_the_program_marked_shows_as_secret_also_from_above() -> None:
    assert "(secret)" in shown("x:y:Z", "a.b", {"a": "[secret]"})
    assert "(secret)" in shown("x:y:Z", "a", {"a": "[secret]"})


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2"), (0.85, "0.85"), (1699297.0, "1699297"), (True, "true"), (10**400, "1000")]
)
def test_numbers_are_written_as_people_do(value: float, text: str) -> None:
    assert f"<code>{text}" in shown("x:y:Z", "a", {"a": value})


def test_objects_and_lists_are_not_spelt_out() -> None:
    assert VALUE not in shown("x:y:Z", "a", {"a": {"password": VALUE, "b": [VALUE]}})


@pytest.mark.parametrize(
    "name",
    ["max_num_batched_tokens", "tokenizer", "tokens", "monkey", "keyspace", "secretary", "author"],
)
def test_a_name_that_only_looks_alike_is_none(name: str) -> None:
    assert not secret_name(name)


@pytest.mark.parametrize("name", ["hf_token", "hugging_face_token", "dbPassword", "API_KEY", "AWS_SECRET_ACCESS_KEY"])
def test_a_name_of_a_secret_is_one(name: str) -> None:
    assert secret_name(name)


TOKENS = st.one_of(
    st.from_regex(r"hf_[A-Za-z0-9]{20,40}", fullmatch=True),
    st.from_regex(r"AKIA[A-Z0-9]{16}", fullmatch=True),
    st.from_regex(r"ghp_[A-Za-z0-9]{36}", fullmatch=True),
    st.from_regex(r"eyJ[A-Za-z0-9]{20}\.[A-Za-z0-9]{20}\.[A-Za-z0-9]{20}", fullmatch=True),
)


@given(TOKENS, st.text(alphabet=" abc:/,.", max_size=20))
def test_a_known_kind_of_token_is_taken_out_of_values_and_messages(token: str, around: str) -> None:
    text = f"{around} {token} {around}"
    body = {"x": text}
    found = preview(
        [step("update", "x:y:Z", "thing", body, body, diff={"x": "update"})],
        policy("rule", text),
        {"diagnosticEvent": {"severity": "error", "message": text}},
        result="failed",
    )
    assert token not in comment([judge(found, ())])


@pytest.mark.parametrize(
    "text",
    [
        "vllm/vllm-openai:v0.33.0",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "arn:aws:iam::111122223333:role/platform-engineer",
        "name the Secret: env.valueFrom.secretKeyRef with name and key",
        "meta-llama/Meta-Llama-3.1-70B-Instruct",
    ],
)
def test_what_a_reviewer_needs_stays(text: str) -> None:
    assert scrubbed(text) == text
