"""The lines by which a pull request says that it means it."""

from __future__ import annotations

import pytest

from report.acknowledgements import acknowledged_lines
from report.judgement import judge
from tests.report.event_logs import GROUP, P5, preview, step

LINE = "acknowledge: delete NodeGroup/p5 in prod"
PREVIEW = preview([step("delete", GROUP, "p5", old=P5)])


@pytest.mark.parametrize(
    "description",
    [
        LINE,
        f"Some words.\r\n\r\n{LINE}\r\nMore words.",
        f"- [x] {LINE}",
        f"* {LINE}  ",
        f"```text\n{LINE}\n```",
        f"`{LINE}`",
    ],
)
def test_it_may_stand_as_people_write(description: str) -> None:
    assert judge(PREVIEW, acknowledged_lines(description)).problems == ()


@pytest.mark.parametrize(
    "description",
    [
        "",
        f"- [ ] {LINE}",
        f"<!-- {LINE} -->",
        f"<!-- an example:\n{LINE}\n-->",
        f"<!-- never closed\n{LINE}",
        f"Please don't {LINE}",
        f"{LINE}uction",
        "acknowledge: drain NodeGroup/p5 in prod",
        "acknowledge: delete NodeGroup/p5 in staging",
        "acknowledge: delete NodeGroup/p50 in prod",
        "acknowledge: delete NodeGroup/* in prod",
        "acknowledge: all",
    ],
)
def test_it_covers_nothing_else(description: str) -> None:
    assert judge(PREVIEW, acknowledged_lines(description)).problems


def test_it_excuses_no_violation() -> None:
    failed = preview(
        [step("delete", GROUP, "p5", old=P5)],
        {"policyEvent": {"policyName": "x", "message": "t\nm", "enforcementLevel": "mandatory"}},
        result="failed",
    )
    assert judge(failed, {LINE}).problems == ("1 policy violation",)
