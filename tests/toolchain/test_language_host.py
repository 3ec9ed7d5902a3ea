"""Our Python language host under the real engine, with a state backend in a temporary folder and no cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from toolchain import installed

pytestmark = pytest.mark.engine

# Far above what any of these runs takes (1 to 3 s): it only keeps a hang from going on forever.
_LIMIT_SECONDS = 60


class Project:
    """A Pulumi project with one stack in a temporary folder."""

    def __init__(self, folder: Path, cli: Path) -> None:
        self.folder = folder
        self.cli = cli
        self.environment = os.environ | {
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "not a secret: the state is thrown away",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        (folder / "state").mkdir()
        self.write("Pulumi.yaml", f"name: probe\nruntime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}\n")
        assert self.run("stack", "init", "dev").returncode == 0

    def write(self, name: str, text: str) -> None:
        """Writes a file of the project."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))

    def program(self, text: str) -> None:
        """Writes the program."""
        self.write("__main__.py", text)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the CLI to its end."""
        return subprocess.run(
            [self.cli, *arguments, "--non-interactive"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_LIMIT_SECONDS,
            check=False,
        )

    def preview(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a preview."""
        return self.run("preview", *arguments)

    @contextmanager
    def previewing(self) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
        """A preview whose program has written the file `started`, with the processes that the engine has started."""
        engine = subprocess.Popen(
            [self.cli, "preview", "--non-interactive"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            wait_until((self.folder / "started").exists, "the program to start")
            started = psutil.Process(engine.pid).children(recursive=True)
            assert {"pulumi-language-python", "python"} <= {process.name().rstrip("3.1") for process in started}
            yield engine, started
        finally:
            engine.kill()
            engine.communicate()


def wait_until(true: Callable[[], bool], what: str, seconds: float = _LIMIT_SECONDS) -> None:
    """Waits for something that another process does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended. In a container without an init it may stay as a zombie."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture(scope="module")
def cli() -> Path:
    return installed.ensure(["pulumi-cli"])["pulumi-cli"] / "pulumi"


@pytest.fixture
def project(tmp_path: Path, cli: Path) -> Project:
    return Project(tmp_path, cli)


def outputs(project: Project) -> dict[str, object]:
    shown = project.run("stack", "output", "--json", "--show-secrets")
    assert shown.returncode == 0, shown.stderr
    answer: dict[str, object] = json.loads(shown.stdout)
    return answer


def test_a_program_runs_with_what_the_engine_knows_about_it(project: Project) -> None:
    project.program(
        """
        import os, sys, pulumi
        pulumi.export("stack", pulumi.get_stack())
        pulumi.export("project", pulumi.get_project())
        pulumi.export("root", pulumi.get_root_directory())
        pulumi.export("cwd", os.getcwd())
        pulumi.export("prefix", sys.prefix)
        pulumi.export("dry", pulumi.runtime.is_dry_run())
        """
    )
    done = project.run("up", "--yes", "--skip-preview")
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout + done.stderr
    folder = str(project.folder)
    assert outputs(project) == {
        "stack": "dev",
        "project": "probe",
        "root": folder,
        "cwd": folder,
        "prefix": sys.prefix,
        "dry": False,
    }


def test_a_program_in_a_folder_of_its_own_finds_its_modules_and_the_project_root(project: Project) -> None:
    project.write(
        "Pulumi.yaml",
        f"""\
        name: probe
        main: infra
        runtime: {{name: python, options: {{virtualenv: {os.path.relpath(sys.prefix, project.folder)}}}}}
        """,
    )
    project.write("infra/neighbour.py", "VALUE = 'found'\n")
    project.write(
        "infra/__main__.py",
        """
        import pulumi, neighbour
        print("neighbour:", neighbour.VALUE)
        print("root:", pulumi.get_root_directory())
        """,
    )
    done = project.preview()
    assert done.returncode == 0, done.stdout
    assert "neighbour: found" in done.stdout
    assert f"root: {project.folder}\n" in done.stdout


def test_secrets_in_the_config_stay_secret(project: Project) -> None:
    assert project.run("config", "set", "plain", "hello").returncode == 0
    assert project.run("config", "set", "--secret", "token", "s3cr3t-value").returncode == 0
    project.program(
        """
        import pulumi
        config = pulumi.Config()
        pulumi.export("plain", config.require("plain"))
        pulumi.export("length", len(config.require("token")))
        pulumi.export("token", config.require_secret("token"))
        print("printed:", config.require("token"))
        """
    )
    done = project.run("up", "--yes", "--skip-preview")
    assert done.returncode == 0, done.stdout
    assert "printed: [secret]" in done.stdout
    assert outputs(project) == {"plain": "hello", "length": 12, "token": "s3cr3t-value"}
    written = [path for path in project.folder.rglob("*") if path.is_file() and b"s3cr3t-value" in path.read_bytes()]
    assert written == []


def test_what_a_program_prints_arrives_whole_and_in_order(project: Project) -> None:
    project.program(
        """
        import subprocess, sys
        for number in range(3000):
            print("line", number, file=sys.stderr if number % 7 == 0 else sys.stdout)
        sys.stdout.flush()
        subprocess.run(["echo", "from a child process"], check=True)
        sys.stdout.buffer.write(b"not UTF-8: \\xff\\n")
        sys.stdout.write("no end of line")
        """
    )
    done = project.preview()
    assert done.returncode == 0, done.stdout
    diagnostics = done.stdout.partition("Diagnostics:")[2]
    lines = [line.strip() for line in diagnostics.splitlines()]
    first = lines.index("line 0")
    expected = [f"line {number}" for number in range(3000)]
    expected += ["from a child process", "not UTF-8: \ufffd", "no end of line"]
    assert lines[first : first + len(expected)] == expected


def test_a_program_that_prints_slowly_is_shown_meanwhile(project: Project) -> None:
    project.program(
        """
        import pathlib, time
        print("half way")
        pathlib.Path("started").touch()
        time.sleep(600)
        """
    )
    with project.previewing() as (engine, _):
        assert engine.stdout is not None
        assert any("half way" in line for line in engine.stdout)


def test_a_defect_in_the_program_shows_its_own_traceback_and_nothing_of_the_host(project: Project) -> None:
    project.program(
        """
        def broken():
            raise KeyError("the defect")
        broken()
        """
    )
    done = project.preview()
    shown = done.stdout + done.stderr
    assert done.returncode != 0
    assert shown.count("KeyError: 'the defect'") == 1
    assert "program exited" not in shown
    assert "rpc error" not in shown
    assert "pulumi-language-python" not in shown


@pytest.mark.parametrize("code", [1, 7])
def test_a_program_that_leaves_with_a_code_is_named_with_it(project: Project, code: int) -> None:
    project.program(f"import os\nprint('before', flush=True)\nos._exit({code})\n")
    done = project.preview()
    assert done.returncode != 0
    assert "before" in done.stdout
    assert f"program exited with code {code}" in done.stdout + done.stderr


def test_a_program_that_a_signal_ended_is_said_to_be(project: Project) -> None:
    project.program("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    done = project.preview()
    assert done.returncode != 0
    assert "program was ended (signal: killed)" in done.stdout + done.stderr


def test_a_missing_virtual_environment_is_said_with_what_to_do(project: Project) -> None:
    project.program("")
    project.write("Pulumi.yaml", "name: probe\nruntime: {name: python, options: {virtualenv: nowhere}}\n")
    done = project.preview()
    shown = done.stdout + done.stderr
    assert done.returncode != 0
    assert f"{project.folder}/nowhere" in shown
    assert "make setup" in shown


def test_an_option_that_the_host_does_not_know_is_refused(project: Project) -> None:
    project.program("")
    project.write("Pulumi.yaml", "name: probe\nruntime: {name: python, options: {toolchain: poetry}}\n")
    done = project.preview()
    assert done.returncode != 0
    assert "toolchain: poetry" in done.stdout + done.stderr


def policy_pack(project: Project, level: str, virtualenv: str = sys.prefix) -> None:
    project.write(
        "pack/PulumiPolicy.yaml", f"runtime: {{name: python, options: {{virtualenv: {virtualenv}}}}}\nversion: 1.0.0\n"
    )
    project.write(
        "pack/__main__.py",
        f"""
        from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

        def always(stack, report):
            report("the stack is not to our liking")

        PolicyPack(
            name="probe-pack",
            enforcement_level=EnforcementLevel.{level},
            policies=[StackValidationPolicy(name="liking", description="All stacks are disliked.", validate=always)],
        )
        """,
    )


@pytest.mark.parametrize(("level", "refused"), [("MANDATORY", True), ("ADVISORY", False)])
def test_a_policy_pack_judges_the_program(project: Project, level: str, refused: bool) -> None:
    project.program("import pulumi\npulumi.export('value', 1)\n")
    policy_pack(project, level)
    done = project.preview("--policy-pack", "pack")
    assert "the stack is not to our liking" in done.stdout
    assert (done.returncode != 0) is refused
    assert project.preview().returncode == 0


def test_a_policy_packs_virtual_environment_is_relative_to_its_own_folder(project: Project) -> None:
    project.program("")
    policy_pack(project, "MANDATORY", os.path.relpath(sys.prefix, project.folder / "pack"))
    done = project.preview("--policy-pack", "pack")
    assert "the stack is not to our liking" in done.stdout


def test_a_broken_policy_pack_shows_its_error(project: Project) -> None:
    project.program("")
    policy_pack(project, "MANDATORY")
    project.write("pack/__main__.py", "raise KeyError('the pack is broken')\n")
    done = project.preview("--policy-pack", "pack")
    assert done.returncode != 0
    assert "the pack is broken" in done.stdout + done.stderr


def test_a_provider_written_in_python_runs_and_ends_with_the_run(project: Project) -> None:
    project.write(
        "Pulumi.yaml",
        f"""\
        name: probe
        runtime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}
        plugins: {{providers: [{{name: greeter, path: plugin}}]}}
        """,
    )
    project.write("plugin/PulumiPlugin.yaml", f"runtime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}\n")
    project.write(
        "plugin/__main__.py",
        """
        import os, pathlib, sys
        from pulumi.provider.experimental import provider, server

        class Greeter(provider.Provider):
            async def check(self, request):
                return provider.CheckResponse(inputs=request.new_inputs)

            async def create(self, request):
                return provider.CreateResponse(resource_id="one", properties=request.properties)

        pathlib.Path(__file__).with_name("pid").write_text(str(os.getpid()))
        server.main(sys.argv[1:], "1.0.0", Greeter())
        """,
    )
    project.program(
        """
        import pulumi
        thing = pulumi.CustomResource("greeter:index:Greeting", "thing", {"text": "hello", "kept": None})
        pulumi.export("id", thing.id)
        """
    )
    done = project.run("up", "--yes", "--skip-preview")
    assert done.returncode == 0, done.stdout
    assert outputs(project) == {"id": "one"}
    pid = int((project.folder / "plugin" / "pid").read_text())
    wait_until(lambda: not psutil.pid_exists(pid) or gone(psutil.Process(pid)), "the provider to end", 5)


_SLEEPER = """
    import pathlib, subprocess, time
    subprocess.Popen(["sleep", "600"])
    pathlib.Path("started").touch()
    time.sleep(600)
"""


def test_an_interrupt_ends_the_run_and_all_that_it_started(project: Project) -> None:
    project.program(_SLEEPER)
    with project.previewing() as (engine, started):
        engine.send_signal(signal.SIGINT)
        shown, _ = engine.communicate(timeout=_LIMIT_SECONDS)
        assert engine.returncode != 0
        assert "Traceback" not in shown
        assert "rpc error" not in shown
        wait_until(lambda: all(gone(process) for process in started), "the children to end", 5)


def test_a_program_that_ignores_a_polite_request_is_ended_all_the_same(project: Project) -> None:
    project.program("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + textwrap.dedent(_SLEEPER))
    with project.previewing() as (engine, started):
        engine.send_signal(signal.SIGINT)
        engine.communicate(timeout=_LIMIT_SECONDS)
        wait_until(lambda: all(gone(process) for process in started), "the children to end", 5)


@pytest.mark.parametrize("victim", ["engine", "language host"])
def test_no_process_outlives_a_killed_engine_or_language_host(project: Project, victim: str) -> None:
    project.program(_SLEEPER)
    with project.previewing() as (engine, started):
        host = next(process for process in started if process.name() == "pulumi-language-python")
        (engine if victim == "engine" else host).send_signal(signal.SIGKILL)
        # The program's own child is reached when the host lives to end it; when the host dies, only the program is.
        program = [process for process in started if victim == "engine" or process.name() != "sleep"]
        wait_until(lambda: all(gone(process) for process in program), "the children to end", 5)
        for process in started:
            if not gone(process):
                process.kill()


def test_no_policy_pack_outlives_a_killed_engine(project: Project) -> None:
    project.program(_SLEEPER)
    policy_pack(project, "MANDATORY")
    engine = subprocess.Popen(
        [project.cli, "preview", "--non-interactive", "--policy-pack", "pack"],
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until((project.folder / "started").exists, "the program to start")
    started = psutil.Process(engine.pid).children(recursive=True)
    assert any("pulumi.policy" in process.cmdline() for process in started)
    engine.kill()
    engine.wait()
    wait_until(lambda: all(gone(process) for process in started), "the children to end", 5)


def test_no_kubernetes_provider_outlives_a_killed_engine(project: Project) -> None:
    project.environment |= installed.prepare_pulumi_home(project.folder / "home")
    project.program(
        """
        import pathlib, time, pulumi, pulumi_kubernetes as kubernetes
        provider = kubernetes.Provider("files", render_yaml_to_directory="rendered")
        options = pulumi.ResourceOptions(provider=provider)
        config = kubernetes.core.v1.ConfigMap("config", data={"a": "b"}, opts=options)
        config.data.apply(lambda _: pathlib.Path("started").touch())
        config.data.apply(lambda _: time.sleep(600))
        """
    )
    with project.previewing() as (engine, started):
        assert any("pulumi-resource-kubernetes" in " ".join(process.cmdline()) for process in started)
        engine.kill()
        wait_until(lambda: all(gone(process) for process in started), "the children to end", 5)


def test_the_prepared_environment_runs_a_program_without_a_warning(project: Project) -> None:
    prepared = installed.prepare_pulumi_home(project.folder / "home")
    project.environment = {"PULUMI_BACKEND_URL": project.environment["PULUMI_BACKEND_URL"]} | prepared
    project.environment["PULUMI_CONFIG_PASSPHRASE"] = "not a secret: the state is thrown away"
    project.program("import pulumi\npulumi.export('value', 1)\n")
    done = project.preview()
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout + done.stderr


def test_about_names_the_interpreter_and_its_packages(project: Project) -> None:
    project.program("")
    done = project.run("about", "--json")
    about = json.loads(done.stdout)
    assert about["runtime"]["language"] == "python"
    assert about["runtime"]["version"] == ".".join(str(part) for part in sys.version_info[:3])
    assert "pulumi-policy" in {dependency["name"] for dependency in about["dependencies"]}


def test_install_says_that_packages_are_the_projects_own_business(project: Project) -> None:
    project.program("")
    done = project.run("install")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "make setup" in done.stdout + done.stderr
