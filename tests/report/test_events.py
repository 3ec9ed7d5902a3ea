"""Logs that are none, that end early, and that mean harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from report.__main__ import application
from report.comment import LARGEST, MARKER, comment
from report.errors import InputError
from report.events import preview_of, read_preview
from report.judgement import judge
from report.untrusted_logs import MOST_LOGS
from tests.report.event_logs import DATA, GROUP, P5, STACK, log, policy, preview, step, write

RUN = CliRunner()


def test_a_log_that_ends_early_fails_the_check(tmp_path: Path) -> None:
    events = (DATA / "image-change.jsonl").read_text(encoding="utf-8")
    cut = tmp_path / "sandbox.jsonl"
    cut.write_text(events[: len(events) - 200], encoding="utf-8")
    assert judge(read_preview(cut), ()).problems == ("the preview did not finish",)


def test_an_empty_log_is_a_preview_that_did_not_start(tmp_path: Path) -> None:
    (tmp_path / "prod.jsonl").write_text("", encoding="utf-8")
    found = read_preview(tmp_path / "prod.jsonl")
    assert found.stack == "prod"
    assert judge(found, ()).problems == ("the preview did not finish",)


@pytest.mark.parametrize(
    "content",
    [
        b'{"steps": []}',
        b"Previewing update (prod)\nand more\n",
        b"[1]\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n{}",
        b'{"sequence":1}\nnonsense\n{"sequence":2}\n',
        b'{"sequence":1,"summaryEvent":{"isPreview":false}}\n',
    ],
)
def test_what_is_no_log_of_a_preview_is_bad_input(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "prod.jsonl"
    file.write_bytes(content)
    with pytest.raises(InputError, match="event-log"):
        read_preview(file)


def test_two_stacks_in_one_log_are_bad_input() -> None:
    other = {**step("create", GROUP, "p5", new=P5), "urn": f"urn:pulumi:dev::shop::{GROUP}::p5"}
    with pytest.raises(InputError, match="more than one stack"):
        preview([other])


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["op", "urn", "type", "old", "new", "keys", "diffs", "detailedDiff"]
SIZES = [2, 2.5, -1, "2", True, None, float("inf"), 1e300, 10**400]


def _with_size(inputs: dict[str, Any]) -> dict[str, Any]:
    return {**inputs, "scalingConfig": {"desiredSize": SIZES[len(str(inputs)) % len(SIZES)]}}


ODD_STEP = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(FIELDS, ANYTHING),
        "op": st.sampled_from(["create", "replace", "delete", "update", "same", "odd"]),
        "type": st.sampled_from([GROUP, "aws:ec2/launchTemplate:LaunchTemplate", "kubernetes:apps/v1:Deployment"]),
        "old": st.fixed_dictionaries({"inputs": ANYTHING, "parent": ANYTHING, "id": ANYTHING}) | ANYTHING,
        "new": st.fixed_dictionaries(
            {"inputs": st.dictionaries(st.sampled_from(["instanceTypes", "taints", "spec"]), ANYTHING).map(_with_size)}
        ),
        "urn": st.just(f"urn:pulumi:prod::shop::{GROUP}::p5"),
    },
)


@given(st.lists(ODD_STEP, max_size=4), st.dictionaries(st.sampled_from(["policyEvent", "diagnosticEvent"]), ANYTHING))
def test_odd_events_make_a_comment_or_are_refused(steps: list[dict[str, Any]], others: dict[str, Any]) -> None:
    events = log(steps, others, {"policyEvent": {"message": None}})
    try:
        found = preview_of(json.loads(json.dumps(events)), Path("prod.jsonl"))
    except InputError:
        return
    assert comment([judge(found, ())]).startswith(MARKER)


def test_a_huge_preview_is_cut_and_keeps_what_matters_most() -> None:
    odd = "<&|@" * 30
    kind, group = "kubernetes:apps/v1:Deployment", {"instanceTypes": [odd], "scalingConfig": {"desiredSize": 2}}
    steps = [step("delete", GROUP, "p5", old=P5)]
    steps += [step("delete", GROUP, f"{odd}{number}", old=group) for number in range(500)]
    steps += [step("update", kind, f"{odd}{number}", {}, {}, diff={"spec.template": "update"}) for number in range(999)]
    steps += [step("create", f"{odd}:{number}:x", odd, new={}) for number in range(500)]
    outputs = {"usd_per_hour": {f"{odd}{number}": odd for number in range(500)}} | dict.fromkeys(
        map(str, range(99)), odd
    )
    others = [policy(f"rule-{number}", odd * 9) for number in range(2000)]
    others += [policy(f"rule-{number}", f"waived: {odd * 9}", "advisory") for number in range(2000)]
    others += [{"diagnosticEvent": {"severity": "error", "message": f"{number} {odd * 9}"}} for number in range(500)]
    others += [{"resOutputsEvent": {"metadata": {**STACK, "new": {"outputs": outputs}}}}]
    judgement = judge(preview(steps, *others, result="failed"), ())
    for count in (1, 3, MOST_LOGS):
        text = comment([judgement] * count)
        assert len(text) < LARGEST
        assert text.count("🛑&nbsp;deleted | <code>NodeGroup/p5</code>") == count
        assert text.count("\nacknowledge: delete NodeGroup/p5 in prod") == count
        assert text.count("<details>") == text.count("</details>")
        assert "more resources" in text


def test_the_command_prints_the_comment_and_fails_the_check(tmp_path: Path) -> None:
    file = write(tmp_path / "prod.jsonl", log([step("delete", GROUP, "p5", old=P5)]))
    done = RUN.invoke(application, ["render", str(file)])
    assert done.exit_code == 1
    assert done.stdout.startswith(MARKER)
    (tmp_path / "description.md").write_text("- [x] acknowledge: delete NodeGroup/p5 in prod\n", encoding="utf-8")
    done = RUN.invoke(application, ["render", str(file), "--acknowledged", str(tmp_path / "description.md")])
    assert done.exit_code == 0
