"""``python -m policies.check``: inputs, formats, exit codes, context and configuration."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.check import main
from policies.configuration import ConfigurationError, parse_configuration
from policies.loading import InputError, load, parse, plain
from policies.registry import rules
from policies.unknowns import Unknown, is_unknown
from tests.policies.manifests import changed, served, workload

ROOT = Path(__file__).parents[2]
OFF = served("m", "--no-enable-prefix-caching")
QUIET = workload(strategy={"type": "Recreate"})


def written(tmp_path: Path, *bodies: Any, name: str = "input.yaml") -> str:
    path = tmp_path / name
    path.write_text(yaml.safe_dump_all(bodies), encoding="utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    code = main([*arguments, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_json_rows_have_the_documented_keys_and_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, QUIET, OFF)
    code, rows = run(capsys, path)
    assert code == 1
    row = next(row for row in rows if row["rule"] == "prefix-caching-on")
    assert set(row) == {"rule", "verdict", "severity", "object", "message", "file", "line"}
    assert row["verdict"] == "violation"
    assert row["object"] == "Deployment/chat"
    assert row["file"] == path
    assert "args:" in Path(path).read_text(encoding="utf-8").splitlines()[row["line"] - 1]


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([written(tmp_path, QUIET)]) == 0
    assert capsys.readouterr().out.strip() == "No findings."
    advised = changed(QUIET, "spec.template.spec.enableServiceLinks", True)
    assert main([written(tmp_path, advised)]) == 0
    assert "ADVICE" in capsys.readouterr().out
    assert main([written(tmp_path, OFF)]) == 1
    assert main([str(tmp_path / "absent.yaml")]) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        ("a: [1", "x.yaml", "x.yaml:2"),
        ("image: {{ .Values.image }}", "x.yaml", "helm template"),
        ('{"a": ', "x.json", "not valid JSON"),
        ('{"a": 1}', "x.json", "no resources"),
        ('[{"type": "t"}, 3]', "x.json", "no resources"),
        ("a: &x [*x]", "x.yaml", "contains itself"),
    ],
)
def test_bad_input_is_told_with_its_place_and_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, name: str, says: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    code = main([str(tmp_path / name)])
    error = capsys.readouterr().err
    assert says in error
    assert code == 2


def test_usage_errors_end_with_code_2() -> None:
    for arguments in ([], ["x.yaml", "--format", "xml"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2


def test_folders_lists_and_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    written(tmp_path / "deep", {"apiVersion": "v1", "kind": "List", "items": [QUIET, OFF]})
    (tmp_path / "README.md").write_text("not a manifest", encoding="utf-8")
    code, rows = run(capsys, str(tmp_path))
    assert code == 1
    (row,) = [row for row in rows if row["rule"] == "prefix-caching-on"]
    assert row["line"] > len(yaml.safe_dump(QUIET).splitlines())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(yaml.safe_dump(OFF).encode()), encoding="utf-8"))
    code, rows = run(capsys, "-")
    assert (code, rows[0]["file"]) == (1, "<stdin>")


def test_an_empty_folder_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no"):
        load([str(tmp_path)])


def test_json_manifests_and_pulumi_lists_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pulumi = [{"type": "kubernetes:apps/v1:Deployment", "name": "chat", "properties": OFF}]
    for data in (OFF, [OFF], {"apiVersion": "v1", "kind": "List", "items": [OFF]}, pulumi):
        path = tmp_path / "x.json"
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")
        _, rows = run(capsys, str(path))
        row = next(row for row in rows if row["rule"] == "prefix-caching-on")
        assert row["object"] == "Deployment/chat"
        assert '"args"' in path.read_text(encoding="utf-8").splitlines()[row["line"] - 1]


def test_a_stack_export_is_judged_by_its_inputs_with_secrets_and_unknowns_apart() -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x"}
    row = {
        "urn": "urn:pulumi:prod::llm::kubernetes:apps/v1:Deployment::chat",
        "type": "kubernetes:apps/v1:Deployment",
        "id": "llm/chat",
        "inputs": changed(OFF, "metadata.labels", {"token": secret}),
        "outputs": {"kind": "Deployment"},
    }
    export = {"version": 3, "deployment": {"resources": [row, {"type": "pulumi:pulumi:Stack", "urn": "urn:x"}]}}
    deployment, stack = parse(json.dumps(export), "state.json")
    assert deployment.label == "Deployment/chat"
    assert deployment.id == "llm/chat"
    assert is_unknown(deployment.at("metadata", "labels", "token"))
    assert stack.type == "pulumi:pulumi:Stack"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (8.0, 8),
        ([1.5], [1.5]),
        ({"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"x"'}, "x"),
    ],
)
def test_plain_data_of_pulumi(value: Any, expected: Any) -> None:
    assert plain(value, "") == expected


def test_the_markers_of_every_kind_of_unknown_become_unknown() -> None:
    for marker in ("04da6b54-80e4-46f7-96ec-b56ff0331ba9", "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"):
        (value,) = plain([marker], "args")
        assert isinstance(value, Unknown)
        assert value.path == "args[0]"


def test_context_comes_from_its_file_or_from_a_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, workload(served("m", gpus=2)["spec"]["template"], replicas=1))
    for content in ("cluster_gpus: 2\n", "context:\n  cluster_gpus: 2\n", '{"cluster_gpus": 2}'):
        facts = tmp_path / "facts.yaml"
        facts.write_text(content, encoding="utf-8")
        _, rows = run(capsys, path, "--context", str(facts))
        assert {row["verdict"] for row in rows if row["rule"] == "rollout-strategy"} == {"violation"}


def test_context_with_a_misspelt_key_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = tmp_path / "facts.yaml"
    facts.write_text("cluster_gpu: 2\n", encoding="utf-8")
    assert main([written(tmp_path, QUIET), "--context", str(facts)]) == 0
    assert "cluster_gpus" in capsys.readouterr().err
    facts.write_text("- 2\n", encoding="utf-8")
    assert main([written(tmp_path, QUIET), "--context", str(facts)]) == 2


def test_levels_and_parameters_of_an_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "dev.json"
    path = written(tmp_path, OFF)
    for level, code in (("advisory", 0), ("disabled", 0), ("mandatory", 1)):
        config.write_text(json.dumps({"prefix-caching-on": level}), encoding="utf-8")
        found_code, rows = run(capsys, path, "--config", str(config))
        assert found_code == code
        assert (level == "disabled") == (not any(row["rule"] == "prefix-caching-on" for row in rows))
    config.write_text('{"all": "advisory", "prefix-caching-on": {"enforcementLevel": "mandatory"}}', encoding="utf-8")
    assert run(capsys, path, "--config", str(config))[0] == 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"shm-sise": "mandatory"}, "no such rule"),
        ({"shm-size": "strict"}, "one of mandatory, advisory, disabled"),
        ({"shm-size": {"gib_per_rank": "two"}}, "expected number"),
        ({"shm-size": {"gib_per_rank": True}}, "expected number"),
        ({"shm-size": {"gib": 2}}, "allowed: enforcementLevel"),
        ({"shm-size": {"waivers": {}}}, "list"),
        ({"shm-size": 3}, "expected a level"),
        ([], "expected an object"),
    ],
)
def test_a_wrong_configuration_says_what_is_allowed(data: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        parse_configuration(data, rules(), "dev.json")


def test_the_configurations_that_we_ship_are_right() -> None:
    for path in (ROOT / "policies" / "config").glob("*.json"):
        parse_configuration(json.loads(path.read_text(encoding="utf-8")), rules(), path.name)


def test_sarif_and_github_carry_rule_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, OFF)
    main([path, "--format", "sarif"])
    (run_,) = json.loads(capsys.readouterr().out)["runs"]
    known = [rule["id"] for rule in run_["tool"]["driver"]["rules"]]
    for result in run_["results"]:
        assert known[result["ruleIndex"]] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] > 1
    main([path, "--format", "github"])
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f"::error file={path},line=") for line in lines)


def test_yaml_needs_no_pulumi_sdk(tmp_path: Path) -> None:
    program = (
        "import sys; from policies.check import main; main([sys.argv[1]]);"
        "print([name for name in sys.modules if name.split('.')[0] in ('pulumi', 'pulumi_policy', 'grpc')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, written(tmp_path, OFF)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_list_rules_names_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-rules"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rules())
