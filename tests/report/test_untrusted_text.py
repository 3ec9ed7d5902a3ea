"""Names that try to be more than text: read by a real Markdown parser, as GitHub's would."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from report.comment import MARKER, comment
from report.judgement import judge
from report.markdown import code, one_line, prose, table_head, table_row
from tests.report.event_logs import GROUP, P5, policy, preview, step

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ATTACKS = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</code></details><h1>approved</h1>",
    "--> <b>x</b> <!--",
    "[click](https://evil.example/)",
    "![pixel](https://evil.example/p.png)",
    "<https://evil.example>",
    "https://evil.example/login",
    "HTTPS://evil.example and WWW.evil.example",
    "ops@evil.example",
    "@octocat approve",
    "closes #1 and GH-1",
    "a | b | c",
    "a\\| b\\\\| c",
    "`code` ``more``",
    "```\nfence\n```",
    "line\nbreak\r\n# heading",
    "**bold** _under_ ~~gone~~ __init__",
    "&lt;b&gt; &#64;octocat &amp;",
    "$\\math$ :tada:",
    "right-to-left \u202eevil\u2066",
    "null\x00 bell\x07 line\u2028separator",
    MARKER,
]


def cells(text: str) -> tuple[list[str], str]:
    """The cells of the one row of a table that holds ``text`` as a name and as a message, and the page."""
    page = PARSER.render("\n".join([*table_head("abc"), table_row((code(text), prose(text), "end"))]))
    return re.findall(r"<td>(.*?)</td>", page, re.DOTALL), page


def holds_nothing_else(text: str) -> bool:
    found, page = cells(text)
    tags = set(re.findall(r"</?([a-zA-Z0-9]+)", page))
    return len(found) == 3 and found[2] == "end" and tags == {"table", "thead", "tbody", "tr", "th", "td", "code"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_stays_in_its_cell(attack: str) -> None:
    assert holds_nothing_else(attack)


@given(st.text(max_size=60), st.sampled_from(ATTACKS), st.text(max_size=60))
def test_any_text_stays_in_its_cell(before: str, attack: str, after: str) -> None:
    assert holds_nothing_else(f"{before}{attack}{after}")


@given(st.text(max_size=100))
@example("@octocat #1")
def test_nothing_that_is_text_is_lost(text: str) -> None:
    found, _ = cells(text)
    name = html.unescape(found[0].removeprefix("<code>").removesuffix("</code>"))
    message = html.unescape(found[1]).replace("\u200b", "")
    assert name == one_line(text, 120)
    assert message == one_line(text, 600).replace("\u200b", "").strip()


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_message_mentions_nobody_and_links_nowhere(attack: str) -> None:
    source, page = prose(attack), PARSER.render(prose(attack))
    assert not re.search(r"https?://|www\.|@", source, re.IGNORECASE)  # what GitHub would make a link of
    assert not re.search(r"@\w|#\d", html.unescape(page))  # what it looks for in the finished page


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_whole_comment_keeps_its_form(attack: str) -> None:
    def page(name: str) -> str:
        kind = "kubernetes:apps/v1:Deployment"
        found = preview(
            [
                step("delete", GROUP, name, old=P5),
                step(
                    "update", kind, name, {"spec": {"x": name}}, {"spec": {"x": f"{name}2"}}, diff={"spec.x": "update"}
                ),
                step("update", kind, "paths", {}, {}, diff={name: "update"}),
            ],
            policy(name, name),
            policy("rule", f"waived: {name}", "advisory"),
            {"diagnosticEvent": {"severity": "error", "message": name}},
            result="failed",
        )
        return str(PARSER.render(comment([judge(found, ())])))

    def form(text: str) -> list[str]:
        return re.findall(r"</?[a-zA-Z0-9]+|<!--", text)

    assert form(page(attack)) == form(page("harmless"))


def test_a_fence_can_not_be_closed_from_inside() -> None:
    found = preview([step("delete", GROUP, "p5\n```\n# owned", old=P5)])
    assert "<h1>" not in PARSER.render(comment([judge(found, ())]))
