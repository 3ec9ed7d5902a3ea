"""What the workflows must never do: a fork's author controls the code, the names and the description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[2] / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.y*ml"))
UNTRUSTED = ["checks.yaml", "report.yaml"]
"""Those that run a fork's code."""


def workflow(name: str) -> dict[str, Any]:
    # YAML 1.1 reads the key `on` as true.
    return {("on" if key is True else key): value for key, value in yaml.safe_load((FOLDER / name).read_text()).items()}


def jobs(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = workflow(name)["jobs"]
    return found


def steps(name: str) -> Iterator[dict[str, Any]]:
    for job in jobs(name).values():
        yield from job["steps"]


def test_these_are_all() -> None:
    assert [file.name for file in FILES] == ["checks.yaml", "comment.yaml", "preview-live.yaml", "report.yaml"]


@pytest.mark.parametrize("name", [file.name for file in FILES])
class TestEvery:
    def test_none_runs_with_the_target_branches_rights_on_a_forks_event(self, name: str) -> None:
        assert "pull_request_target" not in workflow(name)["on"]

    def test_rights_are_stated_and_small(self, name: str) -> None:
        assert workflow(name)["permissions"] in ({}, {"contents": "read"})

    def test_no_secret_is_named(self, name: str) -> None:
        assert "secrets." not in (FOLDER / name).read_text()

    def test_no_expression_becomes_part_of_a_command(self, name: str) -> None:
        assert [step["run"] for step in steps(name) if "${{" in step.get("run", "")] == []
        assert [step for step in steps(name) if "script" in step.get("with", {})] == []

    def test_actions_are_pinned_to_a_commit(self, name: str) -> None:
        used = re.findall(r"uses: (\S+)(.*)", (FOLDER / name).read_text())
        assert used
        for action, comment in used:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)

    def test_checkouts_leave_no_token_behind(self, name: str) -> None:
        checkouts = [step for step in steps(name) if step.get("uses", "").startswith("actions/checkout@")]
        assert checkouts
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)

    def test_a_failure_in_a_pipe_is_one(self, name: str) -> None:
        assert workflow(name)["defaults"] == {"run": {"shell": "bash"}}

    def test_jobs_end(self, name: str) -> None:
        assert all(job["timeout-minutes"] <= 90 for job in jobs(name).values())


@pytest.mark.parametrize("name", UNTRUSTED)
def test_a_forks_code_has_no_token_and_no_right(name: str) -> None:
    assert set(workflow(name)["on"]) <= {"pull_request", "push"}
    assert workflow(name)["permissions"] == {"contents": "read"}
    assert all("permissions" not in job and "environment" not in job for job in jobs(name).values())
    assert "github.token" not in (FOLDER / name).read_text()


def test_a_description_that_changes_is_judged_again() -> None:
    assert "edited" in workflow("report.yaml")["on"]["pull_request"]["types"]


def test_the_comment_is_made_by_trusted_code_alone() -> None:
    assert workflow("comment.yaml")["on"] == {
        "workflow_run": {"workflows": [workflow("report.yaml")["name"]], "types": ["completed"]}
    }
    (job,) = jobs("comment.yaml").values()
    assert job["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}
    (checkout,) = [step for step in steps("comment.yaml") if step.get("uses", "").startswith("actions/checkout@")]
    assert checkout["with"] == {"persist-credentials": False}  # no ref, no other repository
    assert "head_branch" not in (FOLDER / "comment.yaml").read_text()


def test_the_artifact_lands_outside_the_checkout_and_only_logs_are_taken() -> None:
    (download,) = [step for step in steps("comment.yaml") if "download-artifact" in step.get("uses", "")]
    assert download["with"]["path"].startswith("${{ runner.temp }}/")
    assert download["with"]["pattern"] == "preview-*"
    assert "cache" not in str([step.get("with") for step in steps("comment.yaml")])  # a cache could be poisoned


def test_credentials_are_for_our_own_branches_after_an_approval() -> None:
    (job,) = jobs("preview-live.yaml").values()
    assert job["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
    assert job["environment"].startswith("preview-")
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    others = "".join(file.read_text() for file in FILES if file.name != "preview-live.yaml")
    assert "id-token" not in others
    assert "aws-actions" not in others


def test_a_preview_changes_nothing() -> None:
    for name in ("preview-live.yaml",):
        commands = " ".join(step.get("run", "") for step in steps(name))
        assert re.findall(r'pulumi" (\w+)', commands) == ["preview"]


def test_every_stack_but_the_sandbox_is_previewed_live() -> None:
    (job,) = jobs("preview-live.yaml").values()
    names = {file.name.split(".")[1] for file in (FOLDER.parents[1] / "stacks").glob("Pulumi.*.yaml")}
    assert set(job["strategy"]["matrix"]["stack"]) == names - {"sandbox"}
