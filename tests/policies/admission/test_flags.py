"""Spellings as CEL knows them, against what the parser of the rules makes of them."""

from __future__ import annotations

import re

import pytest

from catalog.vllm_flags import flag_table_versions
from catalog.vllm_versions import vllm_version
from policies.admission.flags import doubt, spellings, switch
from policies.workloads.servers import parse_arguments

DESTS = (
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "data_parallel_size",
    "data_parallel_size_local",
    "nnodes",
    "api_key",
    "enable_prefix_caching",
    "shutdown_timeout",
)


@pytest.mark.parametrize("dest", DESTS)
def test_every_sure_spelling_reaches_its_flag_or_is_refused(dest: str) -> None:
    sure, _ = spellings(dest)
    assert f"--{dest.replace('_', '-')}" in sure
    for spelling in sure:
        for version in flag_table_versions():
            argument = parse_arguments((spelling,), vllm_version(version))[0][0]
            assert argument.dest == dest or not argument.is_listed, (spelling, version)


def test_a_prefix_that_only_some_versions_take_is_doubtful() -> None:
    """--api: 0.6.3 has no other flag that begins so, 0.33.0 has --api-server-count."""
    sure, doubtful = spellings("api_key")
    assert "--api" in doubtful
    assert "--api" not in sure
    assert re.search(doubt("api_key"), "\x1f--api\x1f")
    assert not re.search(switch("api_key"), "\x1f--api\x1f")


@pytest.mark.parametrize("word", ["--tensor-parallel-size", "--tensor_parallel_size", "-tp", "--tensor-par"])
@pytest.mark.parametrize("end", ["=8\x1f", "\x1f\x1f8\x1f", " 8\x1f"])
def test_words_that_name_the_flag(word: str, end: str) -> None:
    assert re.search(switch("tensor_parallel_size"), f"\x1f{word}{end}")


@pytest.mark.parametrize("word", ["--tensor-parallel-sizes", "-t", "-tp4", "x--tensor-parallel-size", "tp"])
def test_words_that_do_not(word: str) -> None:
    assert not re.search(switch("tensor_parallel_size"), f"\x1f{word}\x1f")
