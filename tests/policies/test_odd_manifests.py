"""No manifest, however odd, crashes a rule or the command."""

from __future__ import annotations

import copy
import datetime
import io
import json
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.check import main
from policies.configuration import Configuration
from policies.evaluate import findings
from policies.loading import InputError, parse, pulumi_resource
from policies.model import Resource, ResourceSet
from policies.registry import rules
from policies.unknowns import Unknown
from policies.workloads.shell import simple_commands

DATA = Path(__file__).parents[1] / "cases" / "data"
TODAY = datetime.date(2026, 11, 29)
ODD_STRINGS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "",
            "$",
            "$(",
            "${",
            "$(X)",
            "100%",
            "-1",
            "1e400",
            "--tp",
            "--tensor-parallel-size",
            "vllm serve",
            "=",
            "Memory",
            "'",
        ]
    ),
)
ODD = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        ODD_STRINGS,
        st.datetimes().map(lambda value: value.date()),
        st.builds(Unknown, st.just("somewhere")),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(ODD_STRINGS, st.integers()), inner, max_size=3)
    ),
    max_leaves=6,
)


def _documents() -> list[dict[str, Any]]:
    found = []
    for path in sorted(DATA.glob("*/input.yaml")):
        found += [row for row in yaml.safe_load_all(path.read_text(encoding="utf-8")) if isinstance(row, dict)]
    return found


DOCUMENTS = _documents()
PROGRAMS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*/input.json"))]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in rows:
        found += _paths(inner, (*path, key))
    return found


def _replace(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = new


@st.composite
def mutated(draw: st.DrawFn, sources: list[Any]) -> Any:
    body = copy.deepcopy(draw(st.sampled_from(sources)))
    for _ in range(draw(st.integers(1, 3))):
        paths = _paths(body)
        if paths:
            _replace(body, draw(st.sampled_from(paths)), draw(ODD))
    return body


def _resource(body: dict[str, Any]) -> Resource:
    name = body.get("metadata", {}).get("name") if isinstance(body.get("metadata"), dict) else None
    version, kind = body.get("apiVersion"), body.get("kind")
    return Resource(
        f"{version if isinstance(version, str) else 'apps/v1'}/{kind if isinstance(kind, str) else 'Deployment'}",
        name if isinstance(name, str) else "x",
        body,
    )


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(mutated(DOCUMENTS), min_size=1, max_size=3), ODD)
def test_rules_survive_any_kubernetes_object(bodies: list[Any], gpus: Any) -> None:
    resources = ResourceSet(
        [_resource(body) for body in bodies if isinstance(body, dict)], {"cluster_gpus": gpus, "addons": gpus}
    )
    for finding in findings(rules().values(), resources, Configuration(), TODAY):
        assert finding.message


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated(PROGRAMS))
def test_rules_survive_any_pulumi_resource(rows: Any) -> None:
    resources = [
        pulumi_resource(row["type"], "x", row.get("properties"))
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("type"), str)
    ]
    for finding in findings(rules().values(), ResourceSet(resources), Configuration(), TODAY):
        assert finding.message


def _without_unknowns(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_unknowns(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_unknowns(inner) for inner in value]
    return None if isinstance(value, Unknown) else value


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(mutated(DOCUMENTS), st.sampled_from(["table", "json", "sarif", "github"]))
def test_the_command_answers_for_any_yaml(tmp_path: Path, body: Any, form: str) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(yaml.safe_dump(_without_unknowns(body), allow_unicode=True), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(file), "--format", form])
    assert code in (0, 1) or err.getvalue()
    assert "Traceback" not in err.getvalue()
    if form == "json" and code != 2:
        assert isinstance(json.loads(out.getvalue()), list)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(content: str) -> None:
    with suppress(InputError):
        for resource in parse(content, "odd.yaml"):
            assert resource.line >= 1


SHELL = st.text(alphabet=st.sampled_from(list("ab$({[\"'\\`#;&|<>)}] \n-=0@*/:!?")), max_size=60)


@settings(max_examples=500, deadline=None)
@given(SHELL)
def test_any_shell_text_is_read(script: str) -> None:
    for command in simple_commands(script, {"a": "x y"}, ["sh", "b"]):
        assert command.words


@pytest.mark.parametrize(
    "content", ["a: &a [*a]\n", "? [a]\n: b\n", "x: 2024-13-45\n", "a: !own b\n", "\x00", "[" * 3000]
)
def test_what_no_manifest_is_gets_a_place_and_a_reason(content: str) -> None:
    with pytest.raises(InputError, match=r"odd\.yaml"):
        parse(content, "odd.yaml")
