"""How a preview grows with GPU groups and model servers, against a flat program with as many resources.

    .venv/bin/python -m tests.bench.bench_scale

Offline previews on a sandbox folder of its own, policies included, in one run. Prints ratios, never fails. The flat
program declares as many ConfigMaps without any structure: the engine's own floor.
"""

from __future__ import annotations

import copy
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from sandbox.control_plane import Sandbox
from sandbox.stacks.workspace import REPOSITORY, Workspace
from tests.stack_files import stack_config

# Groups, model servers: the size last.
SIZES = ((1, 1), (2, 10), (10, 50))
_FLAT = """
import pulumi, pulumi_kubernetes as kubernetes
provider = kubernetes.Provider("flat", render_yaml_to_directory="rendered")
for index in range({count}):
    kubernetes.core.v1.ConfigMap(
        f"map-{{index}}", metadata={{"name": f"map-{{index}}"}}, data={{"a": "b"}},
        opts=pulumi.ResourceOptions(provider=provider),
    )
"""


def grown_config(groups: int, servers: int) -> dict[str, Any]:
    """Prod's config with so many GPU groups (eight nodes each) and so many 8B model servers, spread over them."""
    config = stack_config("prod")
    group, server = config["gpu-inference:node_groups"][0], config["gpu-inference:model_servers"][0]
    config["gpu-inference:node_groups"] = [
        copy.deepcopy(group)
        | {"name": f"p5-{index}", "count": 8}
        | {"capacity": group["capacity"] | {"instance_count": 8, "reservation_id": f"cr-{index:017x}"}}
        for index in range(groups)
    ]
    small = {"model": "meta-llama/Llama-3.1-8B-Instruct", "tensor_parallel_size": 1}
    config["gpu-inference:model_servers"] = [
        copy.deepcopy(server)
        | small
        | {"name": f"chat-{index}", "node_group": f"p5-{index % groups}"}
        | {"autoscaler": {"name": f"chat-{index}", "min_replicas": 1, "max_replicas": 2}}
        for index in range(servers)
    ]
    return config


def timed_preview(workspace: Workspace, directory: Path, config_file: Path | None) -> tuple[float, int]:
    """Seconds of one preview and the resources that it would create."""
    command = workspace.engine(["preview", "--json"])
    command[command.index("-C") + 1] = str(directory)
    if config_file:
        command += ["--config-file", str(config_file), "--policy-pack", str(REPOSITORY / "policies")]
    started = time.perf_counter()
    done = subprocess.run(command, env=workspace.environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(done.stdout[-3000:] + done.stderr[-1000:])
    return seconds, int(json.loads(done.stdout)["changeSummary"]["create"])


def main() -> None:
    """Preview each size, then a flat program of the same number of resources."""
    table = Table("GPU groups", "model servers", "resources", "ours, s", "flat, s", "ours / flat", "ms a resource")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for groups, servers in SIZES:
            sandbox = Sandbox(root / f"{groups}-{servers}")
            sandbox.folder.create()
            file = root / "Pulumi.prod.yaml"
            file.write_text(yaml.safe_dump({"config": grown_config(groups, servers)}), encoding="utf-8")
            workspace = Workspace(sandbox.folder, "prod", file)
            workspace.prepare()
            ours, count = timed_preview(workspace, REPOSITORY, workspace.config_file)
            flat = _flat_seconds(workspace, root / f"flat-{groups}-{servers}", count)
            cells = (ours, flat, ours / flat, 1000 * ours / count)
            table.add_row(str(groups), str(servers), str(count), *(f"{cell:.1f}" for cell in cells))
    Console().print(table)


def _flat_seconds(workspace: Workspace, directory: Path, count: int) -> float:
    directory.mkdir()
    runtime = {"name": "python", "options": {"virtualenv": str(REPOSITORY / ".venv")}}
    (directory / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "gpu-inference", "runtime": runtime}))
    (directory / "__main__.py").write_text(_FLAT.format(count=count - 2), encoding="utf-8")
    (directory / "Pulumi.prod.yaml").write_text(
        yaml.safe_dump({"encryptionsalt": yaml.safe_load(workspace.config_file.read_text())["encryptionsalt"]})
    )
    return timed_preview(workspace, directory, None)[0]


if __name__ == "__main__":
    main()
