"""The same mistake in another kind, form or spelling gets the same verdict, and the same good configuration none."""

from __future__ import annotations

import copy
import datetime
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.configuration import Configuration
from policies.evaluate import findings
from policies.loading import parse
from policies.model import ResourceSet
from policies.registry import rules

DATA = Path(__file__).parent / "data"
TODAY = datetime.date(2026, 11, 29)
Documents = list[dict[str, Any]]
# What these rules find is the form itself, or it depends on the kind.
OF_THE_FORM = {
    "arg-embedded-space",
    "exec-command-single-string",
    "env-literal-shell-var",
    "hostnetwork-port-spread",
    "rollout-strategy",
    "networkpolicy-allows-dns",
}


def documents(name: str) -> Documents:
    content = (DATA / name / "input.yaml").read_text(encoding="utf-8")
    found = [row for row in yaml.safe_load_all(content) if isinstance(row, dict) and "kind" in row]
    return [item for row in found for item in (row["items"] if row.get("kind") == "List" else [row])]


def context(name: str) -> dict[str, Any]:
    stated: dict[str, Any] = (
        yaml.safe_load((DATA / name / "case.yaml").read_text(encoding="utf-8")).get("context") or {}
    )
    return stated


def violations(content: str, facts: dict[str, Any], file: str = "input.yaml") -> set[tuple[str, str]]:
    found = findings(rules().values(), ResourceSet(parse(content, file), facts), Configuration(), TODAY)
    return {(item.rule, item.object) for item in found if item.verdict == "violation" and item.rule not in OF_THE_FORM}


def dumped(rows: Documents) -> str:
    return yaml.safe_dump_all(rows, sort_keys=False)


def has_arguments(rows: Documents) -> bool:
    return any(
        row["kind"] == "Deployment" and containers(row)[0].get("args") and "command" not in containers(row)[0]
        for row in rows
    )


def containers(row: dict[str, Any]) -> Any:
    return row["spec"]["template"]["spec"]["containers"]


CASES = sorted(path.parent.name for path in DATA.glob("*/input.yaml"))
WITH_DEPLOYMENT = [name for name in CASES if any(row["kind"] == "Deployment" for row in documents(name))]
WITH_ARGUMENTS = [name for name in CASES if has_arguments(documents(name))]


# Other wrappings of the same objects ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_list_json_and_a_pulumi_program_give_the_same_verdicts(name: str) -> None:
    rows, facts = documents(name), context(name)
    expected = violations(dumped(rows), facts)
    as_list = {"apiVersion": "v1", "kind": "List", "items": rows}
    assert violations(dumped([as_list]), facts) == expected
    assert violations(json.dumps(rows), facts, "input.json") == expected
    program = [
        {"type": pulumi_type(row), "name": f"r{index}", "properties": row}
        for index, row in enumerate(rows)
        if "kind" in row
    ]
    assert violations(json.dumps(program), facts, "input.json") == expected


def pulumi_type(row: dict[str, Any]) -> str:
    version = row["apiVersion"] if "/" in row["apiVersion"] else f"core/{row['apiVersion']}"
    return f"kubernetes:{version}:{row['kind']}"


@pytest.mark.parametrize("kind", ["StatefulSet", "Rollout"])
@pytest.mark.parametrize("name", WITH_DEPLOYMENT)
def test_the_verdict_is_the_same_for_another_kind_of_workload(name: str, kind: str) -> None:
    rows, facts = documents(name), context(name)
    expected = {(rule, label.replace("Deployment/", f"{kind}/")) for rule, label in violations(dumped(rows), facts)}
    expected = {row for row in expected if kind != "Rollout" or row[0] != "capacity-max-replicas"}  # judges no Rollouts
    text = dumped(rows).replace("kind: Deployment\n", f"kind: {kind}\n")
    if kind == "Rollout":
        text = text.replace("apiVersion: apps/v1\nkind: Rollout", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout")
    assert violations(text, facts) == expected


# Other ways to start the same server ---------------------------------------------------------------------------------


def changed(name: str, change: Callable[[dict[str, Any]], None]) -> str:
    rows = copy.deepcopy(documents(name))
    for row in rows:
        if row["kind"] == "Deployment":
            for container in containers(row):
                if container.get("args") and "command" not in container:
                    change(container)
    return dumped(rows)


def command_of(container: dict[str, Any]) -> list[str]:
    # Images up to 0.11.0 start the API server's module, later ones `vllm serve`.
    return (
        ["vllm", "serve"]
        if "--model" not in container["args"][0]
        else ["python3", "-m", "vllm.entrypoints.openai.api_server"]
    )


def as_command(container: dict[str, Any]) -> None:
    container["command"] = [*command_of(container), *container.pop("args")]


def as_shell(container: dict[str, Any]) -> None:
    line = shlex.join([*command_of(container), *container.pop("args")])
    container["command"] = ["/bin/bash", "-c"]
    container["args"] = [f"set -e\n# vllm serve other --tensor-parallel-size 16\nexec {line}\n"]


def as_continued_lines(container: dict[str, Any]) -> None:
    words = [shlex.quote(word) for word in [*command_of(container), *container.pop("args")]]
    container["command"] = ["sh", "-c", " \\\n  ".join(words) + " 2>&1 | tee /tmp/log"]


def as_variable(container: dict[str, Any]) -> None:
    arguments = container.pop("args")
    plain = [word for word in arguments if not set(word) & set(" {\"'")]
    rest = [shlex.quote(word) for word in arguments if word not in plain]
    line = " ".join([*command_of({"args": arguments}), "$FLAGS", *rest])
    container["command"] = ["sh", "-c", f'FLAGS="{" ".join(plain)}"; exec {line}']


def with_underscores(container: dict[str, Any]) -> None:
    container["args"] = [
        f"--{word[2:].partition('=')[0].replace('-', '_')}{''.join(word[2:].partition('=')[1:])}"
        if word.startswith("--")
        else word
        for word in container["args"]
    ]


def in_two_words(container: dict[str, Any]) -> None:
    container["args"] = [
        part
        for word in container["args"]
        for part in (word.split("=", 1) if word.startswith("--") and "=" in word else [word])
    ]


def from_environment(container: dict[str, Any]) -> None:
    env = []
    for index, word in enumerate(container["args"]):
        spelling, equals, value = word.partition("=")
        if equals and "{" not in value and not value.startswith("$("):
            env.append({"name": f"VALUE_{index}", "value": value})
            container["args"][index] = f"{spelling}=$(VALUE_{index})"
    container["env"] = [*env, *container.get("env", [])]


@pytest.mark.parametrize(
    "change", [as_command, as_shell, as_continued_lines, as_variable, with_underscores, in_two_words, from_environment]
)
@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_the_verdict_is_the_same_however_the_server_is_started(
    name: str, change: Callable[[dict[str, Any]], None]
) -> None:
    expected = violations(dumped(documents(name)), context(name))
    if name == "005-flag-and-value-in-one-arg" and change in (as_variable, in_two_words):
        pytest.skip("these changes mend the mistake of the case")
    assert violations(changed(name, change), context(name)) == expected
