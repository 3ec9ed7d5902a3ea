"""The few calls of GitHub's API that post the comment, and the pull request that a workflow run was for.

The run's event says which commit of which branch it ran on, and GitHub wrote it. Nothing is taken from an artifact:
its author could name another pull request.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from report.comment import MARKER
from report.errors import ReportError

BOT: Final = "github-actions[bot]"
_TIMEOUT_SECONDS = 30
_PAGE = 100
_PAGES = 30
"""3,000 comments: no pull request that people still read has more."""


@dataclass(frozen=True)
class PullRequest:
    """An open pull request and its description."""

    number: int
    description: str


class GitHub:
    """A repository's pull requests and their comments, through the REST API at ``api_url``."""

    def __init__(self, api_url: str, repository: str, token: str) -> None:
        self._base = f"{api_url}/repos/{repository}"
        self._token = token

    def pull_requests(self, run: Mapping[str, Any]) -> list[PullRequest]:
        """The open pull requests whose newest commit the workflow run was for (``workflow_run`` of the event).

        The event lists none for a fork, so they are found by branch. Empty where a newer commit has been pushed.
        """
        head = run["head_repository"]
        query = urllib.parse.urlencode(
            {"state": "open", "head": f"{head['owner']['login']}:{run['head_branch']}", "per_page": _PAGE}
        )
        return [
            PullRequest(found["number"], found["body"] or "")
            for found in self._request("GET", f"/pulls?{query}")
            if found["head"]["sha"] == run["head_sha"]
            and (found["head"]["repo"] or {}).get("full_name") == head["full_name"]
        ]

    def put_comment(self, number: int, body: str) -> None:
        """Write the pull request's one comment anew, or make it."""
        own = next((comment for comment in self._comments(number) if _is_ours(comment)), None)
        if own is None:
            self._request("POST", f"/issues/{number}/comments", {"body": body})
        else:
            self._request("PATCH", f"/issues/comments/{own['id']}", {"body": body})

    def _comments(self, number: int) -> Iterator[Mapping[str, Any]]:
        for page in range(1, _PAGES + 1):
            found = self._request("GET", f"/issues/{number}/comments?per_page={_PAGE}&page={page}")
            yield from found
            if len(found) < _PAGE:
                return

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the runner's own API address
            self._base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Accept": "application/vnd.github+json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise ReportError(f"GitHub answered {error.code} to {method} {path.partition('?')[0]}.") from error
        except (OSError, ValueError) as error:
            raise ReportError(f"GitHub can't be reached: {error}") from error


def _is_ours(comment: Mapping[str, Any]) -> bool:
    # Anybody may write the marker: the author counts too.
    return (comment.get("user") or {}).get("login") == BOT and str(comment.get("body", "")).startswith(MARKER)
