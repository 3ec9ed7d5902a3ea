"""The state's bucket and key: made once, closed and encrypted, and an interrupted run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sandbox.stacks.doctor import CliError
from sandbox.stacks.state_backend import prepare


class FakeAws:
    """Remembers what was made; ``there`` exists already."""

    def __init__(self, *there: str) -> None:
        self.there = set(there)
        self.calls: list[str] = []
        self.words: list[Sequence[str]] = []
        self.fails_at = ""

    def __call__(self, arguments: Sequence[str]) -> Any:
        verb = arguments[1]
        self.calls.append(verb)
        self.words.append(arguments)
        if verb == self.fails_at:
            raise CliError("AccessDenied")
        if verb == "describe-key" and "key" not in self.there:
            raise CliError("An error occurred (NotFoundException) when calling the DescribeKey operation")
        if verb == "head-bucket" and "bucket" not in self.there:
            raise CliError("An error occurred (404) when calling the HeadBucket operation: Not Found")
        self.there |= {"create-alias": {"key"}, "create-bucket": {"bucket"}}.get(verb, set())
        return {"KeyMetadata": {"KeyId": "1234"}}


def test_everything_is_made_then_nothing_again() -> None:
    aws = FakeAws()
    backend = prepare("111122223333", "eu-west-1", aws, lambda _: None)
    assert backend.url == "s3://gpu-inference-pulumi-state-111122223333-eu-west-1?region=eu-west-1"
    assert {"create-key", "enable-key-rotation", "create-alias", "create-bucket"} <= set(aws.calls)
    made = next(words for words in aws.words if words[1] == "create-bucket")
    assert "LocationConstraint=eu-west-1" in made
    aws.calls.clear()
    prepare("111122223333", "eu-west-1", aws, lambda _: None)
    assert not {"create-key", "create-alias", "create-bucket"} & set(aws.calls)
    assert {"put-bucket-versioning", "put-bucket-encryption", "put-public-access-block"} <= set(aws.calls)


def test_the_first_region_is_not_named_to_s3() -> None:
    aws = FakeAws()
    prepare("111122223333", "us-east-1", aws, lambda _: None)
    made = next(words for words in aws.words if words[1] == "create-bucket")
    assert "--create-bucket-configuration" not in made


def test_an_interrupted_run_goes_on() -> None:
    aws = FakeAws()
    aws.fails_at = "create-bucket"
    with pytest.raises(CliError, match="AccessDenied"):
        prepare("111122223333", "us-east-1", aws, lambda _: None)
    aws.fails_at = ""
    aws.calls.clear()
    prepare("111122223333", "us-east-1", aws, lambda _: None)
    assert "create-key" not in aws.calls
    assert "create-bucket" in aws.calls


def test_somebody_elses_bucket_is_not_taken_for_missing() -> None:
    aws = FakeAws("key")
    aws.fails_at = "head-bucket"
    with pytest.raises(CliError, match="AccessDenied"):
        prepare("111122223333", "us-east-1", aws, lambda _: None)
    assert "create-bucket" not in aws.calls
