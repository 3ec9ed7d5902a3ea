"""Posting the comment, against a stand-in for GitHub's API on loopback."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from report.__main__ import publish
from report.comment import MARKER
from report.errors import InputError, ReportError
from report.github import BOT
from report.untrusted_logs import MOST_LOGS
from tests.report.event_logs import DATA, GROUP, P5, log, step, write

SHA = "a" * 40
RUN = {
    "head_sha": SHA,
    "head_branch": "fix&state=closed#x",
    "head_repository": {"full_name": "fork/shop", "owner": {"login": "fork"}},
    "html_url": "https://github.example/runs/1",
    "pull_requests": [],
}


def pull(number: int, sha: str = SHA, repository: str | None = "fork/shop", body: str | None = None) -> dict[str, Any]:
    head = {"sha": sha, "repo": {"full_name": repository} if repository else None}
    return {"number": number, "head": head, "body": body}


def written(author: str, body: str, id: int) -> dict[str, Any]:
    return {"id": id, "user": {"login": author}, "body": body}


class FakeGitHub:
    """Answers what ``pulls`` and ``comments`` say; keeps what was asked."""

    def __init__(self) -> None:
        self.pulls: list[dict[str, Any]] = [pull(7)]
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, Any]] = []
        self.status = 200
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                fake.asked.append((self.command, self.path, body))
                assert self.headers["Authorization"] == "Bearer t0ken"
                page = json.dumps(fake.page(self.path)).encode()
                self.send_response(fake.status)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def page(self, path: str) -> Any:
        if "/pulls?" in path:
            return self.pulls
        if "/comments?" in path:
            number = int(path.rpartition("page=")[2])
            return self.comments[(number - 1) * 100 : number * 100]
        return {}

    @property
    def changes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _ in self.asked if method != "GET"]


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    fake = FakeGitHub()
    thread = threading.Thread(target=fake.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield fake
    fake.server.shutdown()
    thread.join()
    fake.server.server_close()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copy(DATA / "aws-group-smaller.jsonl", folder / "prod.jsonl")
    return folder


def post(github: FakeGitHub, folder: Path) -> None:
    event = folder.parent / "event.json"
    event.write_text(json.dumps({"workflow_run": RUN}), encoding="utf-8")
    publish(folder, event, "org/shop", github.url, "t0ken")


def test_the_first_comment_is_made(github: FakeGitHub, logs: Path) -> None:
    post(github, logs)
    assert github.changes == [("POST", "/repos/org/shop/issues/7/comments")]
    body = github.asked[-1][2]["body"]
    assert body.startswith(MARKER)
    assert "NodeGroup/p5" in body
    assert "[The run](https://github.example/runs/1)" in body


def test_it_is_written_anew_wherever_it_stands(github: FakeGitHub, logs: Path) -> None:
    github.comments = [written("someone", f"text {number}", number) for number in range(150)]
    github.comments[130] = written(BOT, f"{MARKER}\nold", 4242)
    post(github, logs)
    assert github.changes == [("PATCH", "/repos/org/shop/issues/comments/4242")]


def test_a_comment_that_only_looks_like_ours_is_left_alone(github: FakeGitHub, logs: Path) -> None:
    github.comments = [written("mallory", f"{MARKER}\nfake", 1), written(BOT, f"quote: {MARKER}", 2)]
    post(github, logs)
    assert github.changes == [("POST", "/repos/org/shop/issues/7/comments")]


def test_the_branch_can_not_widen_the_search(github: FakeGitHub, logs: Path) -> None:
    post(github, logs)
    assert github.asked[0][1] == ("/repos/org/shop/pulls?state=open&head=fork%3Afix%26state%3Dclosed%23x&per_page=100")


@pytest.mark.parametrize("other", [pull(8, sha="b" * 40), pull(8, repository="other/shop"), pull(8, repository=None)])
def test_other_pull_requests_and_newer_commits_are_left_alone(
    github: FakeGitHub, logs: Path, other: dict[str, Any]
) -> None:
    github.pulls = [other]
    post(github, logs)
    assert github.changes == []


def test_the_acknowledgement_is_read_from_github(github: FakeGitHub, logs: Path) -> None:
    github.pulls = [pull(7, body="acknowledge: drain NodeGroup/p5 in prod")]
    post(github, logs)
    assert "✅&nbsp;passes" in github.asked[-1][2]["body"]


def test_a_run_without_a_preview_says_so(github: FakeGitHub, tmp_path: Path) -> None:
    post(github, tmp_path / "nothing")
    assert "There is no preview" in github.asked[-1][2]["body"]


def test_a_refusal_is_one_sentence(github: FakeGitHub, logs: Path) -> None:
    github.status = 403
    with pytest.raises(ReportError, match="GitHub answered 403 to GET /pulls"):
        post(github, logs)


class TestUntrustedArtifact:
    def refused(self, github: FakeGitHub, folder: Path) -> None:
        with pytest.raises(InputError):
            post(github, folder)
        assert github.asked == []

    @pytest.mark.parametrize("name", ["prod.md", "PROD.jsonl", "a b.jsonl", ".jsonl", "x" * 60 + ".jsonl"])
    def test_another_name(self, github: FakeGitHub, logs: Path, name: str) -> None:
        write(logs / name, log([step("delete", GROUP, "p5", old=P5)]))
        self.refused(github, logs)

    def test_a_link_out(self, github: FakeGitHub, logs: Path) -> None:
        (logs / "dev.jsonl").symlink_to("/etc/passwd")
        self.refused(github, logs)

    def test_a_folder(self, github: FakeGitHub, logs: Path) -> None:
        (logs / "dev.jsonl").mkdir()
        self.refused(github, logs)

    def test_too_many(self, github: FakeGitHub, logs: Path) -> None:
        for number in range(MOST_LOGS):
            (logs / f"s{number}.jsonl").write_text("", encoding="utf-8")
        self.refused(github, logs)

    def test_one_stack_in_anothers_name(self, github: FakeGitHub, logs: Path) -> None:
        (logs / "prod.jsonl").rename(logs / "dev.jsonl")
        self.refused(github, logs)

    def test_no_log(self, github: FakeGitHub, logs: Path) -> None:
        (logs / "prod.jsonl").write_text("hello\nworld\n", encoding="utf-8")
        self.refused(github, logs)
