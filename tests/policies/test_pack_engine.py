"""The pack under the real engine, on a program that isn't ours, rendered instead of deployed: no cluster is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.policies.manifests import changed, served, shared_memory, workload
from toolchain import installed

pytestmark = pytest.mark.engine

REPOSITORY = Path(__file__).parents[2]
# Far above what a run takes (2 to 5 s): it only keeps a hang from going on forever.
_LIMIT_SECONDS = 120
TP4 = ("meta-llama/Llama-3.3-70B-Instruct", "--tensor-parallel-size=4")
GOOD = served(*TP4, gpus=4, **shared_memory())
BAD = served(*TP4, gpus=4, **shared_memory("1Gi"))


class Program:
    """A Pulumi program that renders manifests, with the pack beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "state").mkdir()
        (folder / "pack").mkdir()
        self.environment = installed.prepare_pulumi_home(folder / "home") | {
            "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "not a secret: the state is thrown away",
        }
        runtime = f"runtime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}\n"
        (folder / "Pulumi.yaml").write_text(f"name: theirs\n{runtime}")
        (folder / "pack" / "PulumiPolicy.yaml").write_text(f"version: 1.0.0\n{runtime}")
        main = REPOSITORY / "policies" / "__main__.py"
        (folder / "pack" / "__main__.py").write_text(
            f"import runpy\nrunpy.run_path({str(main)!r}, run_name='__main__')\n"
        )
        assert self.run("stack", "init", "dev").returncode == 0

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the CLI to its end."""
        return subprocess.run(
            [installed.pulumi_cli().path, *arguments, "--non-interactive"],
            cwd=self.folder,
            env=self.environment | {"PATH": self.environment["PATH"] + os.pathsep + os.defpath},
            capture_output=True,
            text=True,
            timeout=_LIMIT_SECONDS,
            check=False,
        )

    def with_pack(self, command: str, *bodies: dict[str, Any], unknown: bool = False, config: Any = None) -> Any:
        """``preview`` or ``up`` of a program with these objects."""
        (self.folder / "objects.json").write_text(json.dumps(bodies))
        # An id is unknown in a preview: a value made from it stands where the shared memory's size should.
        program = """
            import json, pathlib, pulumi, pulumi_kubernetes as k8s
            from pulumi_kubernetes.apps.v1 import Deployment
            from pulumi_kubernetes.core.v1 import ConfigMap, Service
            objects = json.loads((pathlib.Path(__file__).parent / "objects.json").read_text())
            provider = k8s.Provider("render", render_yaml_to_directory="rendered")
            options = pulumi.ResourceOptions(provider=provider)
            later = ConfigMap("later", data={"size": "64Gi"}, opts=options)
            kinds = {"Deployment": Deployment, "Service": Service}
            for index, body in enumerate(objects):
                if UNKNOWN and body["kind"] == "Deployment":
                    size = later.id.apply(lambda _: "64Gi")
                    body["spec"]["template"]["spec"]["volumes"] = [
                        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}}
                    ]
                kinds[body["kind"]](f"object-{index}", metadata=body["metadata"], spec=body["spec"], opts=options)
        """
        (self.folder / "__main__.py").write_text(f"UNKNOWN = {unknown}\n" + textwrap.dedent(program))
        arguments = ["--policy-pack", "pack"]
        if config is not None:
            (self.folder / "levels.json").write_text(json.dumps(config))
            arguments += ["--policy-pack-config", "levels.json"]
        return self.run(command, *(["--yes", "--skip-preview"] if command == "up" else []), *arguments)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_a_program_that_is_not_ours_is_stopped_before_anything_is_made(program: Program) -> None:
    done = program.with_pack("up", BAD)
    assert done.returncode != 0
    assert "shm-size" in done.stdout
    assert "1 GiB for 4 GPU ranks" in done.stdout
    assert not list((program.folder / "rendered").rglob("*deployment*"))


def test_a_good_program_passes_and_its_exported_state_is_judged_too(program: Program) -> None:
    done = program.with_pack("up", GOOD)
    assert done.returncode == 0, done.stdout
    assert "mandatory" not in done.stdout.lower()
    state = program.folder / "state.json"
    state.write_text(program.run("stack", "export").stdout.replace('"sizeLimit": "16Gi"', '"sizeLimit": "1Gi"'))
    analysed = program.run("policy", "analyze", "--policy-pack", "pack", "--file", str(state))
    assert "shm-size" in analysed.stdout + analysed.stderr
    assert analysed.returncode != 0


def test_unknown_values_are_told_in_the_preview_and_decided_at_up(program: Program) -> None:
    body = changed(BAD, "spec.template.spec.volumes", [])
    preview = program.with_pack("preview", body, unknown=True)
    assert preview.returncode == 0, preview.stdout
    assert "not decided yet" in preview.stdout
    assert "sizeLimit" in preview.stdout
    up = program.with_pack("up", body, unknown=True)
    assert up.returncode == 0, up.stdout
    assert "not decided yet" not in up.stdout


def test_rules_over_the_stack_run_in_the_preview(program: Program) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "vllm", "namespace": "llm"},
        "spec": {"ports": []},
    }
    linked = changed(workload(strategy={"type": "Recreate"}), "spec.template.spec.enableServiceLinks", True)
    done = program.with_pack("preview", linked, service)
    assert done.returncode != 0
    assert "service-name-vllm" in done.stdout


def test_an_environments_file_sets_levels_and_waives(program: Program) -> None:
    waiver = {"object": "Deployment/chat", "reason": "a benchmark", "owner": "ml-platform", "until": "2999-12-31"}
    for entry in ("advisory", {"enforcementLevel": "mandatory", "waivers": [waiver]}, {"gib_per_rank": 0.2}):
        done = program.with_pack("preview", BAD, config={"shm-size": entry})
        assert done.returncode == 0, done.stdout
    assert program.with_pack("preview", BAD, config={"shm-size": {"no_such_parameter": 1}}).returncode != 0


@pytest.mark.parametrize("environment", ["sandbox", "prod"])
def test_the_engine_takes_the_files_that_we_ship(program: Program, environment: str) -> None:
    shipped = json.loads((REPOSITORY / "policies" / "config" / f"{environment}.json").read_text())
    done = program.with_pack("preview", GOOD, config=shipped)
    assert done.returncode == 0, done.stdout
