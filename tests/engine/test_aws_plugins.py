"""The stand-ins under the real engine, with small programs: what a person reads, imports, sees drift, replaces."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sandbox.cloud.account import Account
from sandbox.stacks.workspace import engine_environment
from sandbox.state_folder import StateFolder
from tests.stack_files import REPOSITORY
from toolchain.installed import pulumi_cli

pytestmark = pytest.mark.engine

HEAD = """
import pulumi, pulumi_aws as aws
tags = {"tags": {"a": "b"}}
provider = aws.Provider("aws", region="us-east-1", allowed_account_ids=["111122223333"], default_tags=tags)
on_aws = pulumi.ResourceOptions(provider=provider)
"""
NETWORK = """
vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=on_aws)
pulumi.export("id", vpc.id)
"""
TEMPLATE = """
aws.ec2.LaunchTemplate("p5", instance_type="p5.48xlarge", {arguments}, opts=on_aws)
"""


class Programs:
    """One stack whose program each run may be another; no control plane is up."""

    def __init__(self, path: Path) -> None:
        self.folder = StateFolder(path / "sandbox")
        self.environment = engine_environment(self.folder) | {"PYTHONPATH": str(REPOSITORY)}
        (self.folder.pulumi / "state").mkdir(parents=True)
        self._project = path / "project"
        self._project.mkdir()
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        text = yaml.safe_dump({"name": "small", "runtime": runtime, "config": {}})
        (self._project / "Pulumi.yaml").write_text(text, encoding="utf-8")
        self.run("stack", "", "init", "dev")

    @property
    def account(self) -> Account:
        return Account(self.folder.account)

    def run(self, verb: str, program: str, *arguments: str) -> tuple[int, str]:
        """Exit code and everything that was said."""
        (self._project / "__main__.py").write_text(HEAD + program, encoding="utf-8")
        stack = [] if verb == "stack" else ["--stack", "dev"]
        command = [str(pulumi_cli().path), "-C", str(self._project), "--non-interactive", verb, *arguments, *stack]
        done = subprocess.run(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout

    def up(self, program: str) -> str:
        code, text = self.run("up", program, "--yes", "--skip-preview")
        assert code == 0, text
        return text


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("network_interfaces=[{'device_index': 2, 'interface_type': 'efa-only'}]", "No network interface has device"),
        (
            "network_interfaces=[{'device_index': 0}, {'network_card_index': 1, 'device_index': 2}]",
            "AWS refuses this: InvalidParameterValue: The specified number '2' for the device index exceeds",
        ),
        ("vpc_security_group_ids=['sg-1'], network_interfaces=[{}]", "may not be specified on the same request"),
        ("metadata_options={'http_tokens': 'maybe'}", "'maybe' is not known to AWS; allowed: optional, required"),
        ("block_device_mappings={'device_name': 'x'}", "must be a list"),
    ],
)
def test_a_wrong_template_is_a_sentence_in_the_preview(programs: Programs, arguments: str, sentence: str) -> None:
    code, text = programs.run("preview", TEMPLATE.format(arguments=arguments))
    assert code != 0
    assert sentence in text
    assert "aws:ec2/launchTemplate:LaunchTemplate resource 'p5'" in text
    assert "Traceback" not in text
    assert ".py" not in text.replace("__main__.py", "")


def test_a_life_with_drift_replacement_and_import(programs: Programs) -> None:
    programs.up(NETWORK)
    [vpc] = programs.account.everything()
    assert vpc.inputs["tagsAll"] == {"a": "b"}

    # Somebody changes it in the console: refresh tells, and the next preview would put it back.
    drifted = {**vpc.inputs, "enableDnsSupport": False}
    programs.account.put(type(vpc)(vpc.type, vpc.id, vpc.urn, drifted, vpc.outputs))
    code, text = programs.run("refresh", NETWORK, "--yes", "--skip-preview")
    assert code == 0, text
    assert "~ 1 updated" in text
    code, text = programs.run("preview", NETWORK, "--diff")
    assert "- enableDnsSupport: false" in text

    code, text = programs.run("preview", NETWORK.replace("10.0.0.0/16", "10.8.0.0/16"))
    assert "+-1 to replace" in text.replace(" ", "").replace("+-1toreplace", "+-1 to replace")

    # Deleted in the console: refresh forgets it.
    programs.account.remove(vpc)
    code, text = programs.run("refresh", NETWORK, "--yes", "--skip-preview")
    assert "- 1 deleted" in text
    programs.account.put(vpc)
    imported = NETWORK.replace("opts=on_aws", f"opts=pulumi.ResourceOptions(provider=provider, import_={vpc.id!r})")
    text = programs.up(imported)
    assert "= 1 imported" in text
    code, text = programs.run("destroy", NETWORK, "--yes", "--skip-preview")
    assert code == 0, text
    assert programs.account.everything() == []


def test_a_deletion_that_awss_rules_forbid_is_told_in_awss_words(programs: Programs) -> None:
    programs.up(NETWORK)
    [vpc] = programs.account.everything()
    other = type(vpc)("aws:ec2/subnet:Subnet", "subnet-1", "urn:by-hand", {"vpcId": vpc.id}, {})
    programs.account.put(other)
    code, text = programs.run("destroy", NETWORK, "--yes", "--skip-preview")
    assert code != 0
    assert f"DependencyViolation: The vpc '{vpc.id}' has dependencies and cannot be deleted." in text
    assert "It is used by: Subnet subnet-1" in text
    programs.account.remove(other)
    assert programs.run("destroy", NETWORK, "--yes", "--skip-preview")[0] == 0


def test_what_is_not_played_says_so(programs: Programs) -> None:
    code, text = programs.run("preview", 'aws.sqs.Queue("queue", opts=on_aws)')
    assert code != 0
    assert "doesn't play aws:sqs/queue:Queue. Add a row to sandbox/cloud/data/resource_types.yaml" in text
    question = "aws.ec2.get_ami_output(most_recent=True, opts=pulumi.InvokeOptions(provider=provider)).id.apply(print)"
    code, text = programs.run("preview", question)
    assert code != 0
    assert "doesn't play the function aws:ec2/getAmi:getAmi" in text


def test_the_component_refuses_an_option_that_it_does_not_play(programs: Programs) -> None:
    program = """
import pulumi_eks as eks
eks.Cluster("c", authentication_mode="API", skip_default_security_groups=True, use_default_vpc_cni=True, fargate=True,
            opts=pulumi.ResourceOptions(providers=[provider, eks.Provider("eks")]))
"""
    code, text = programs.run("preview", program)
    assert code != 0
    assert (
        "fargate is not played; skipDefaultNodeGroup must be true; kubeProxyAddonOptions.enabled must be false" in text
    )


def test_no_state_of_a_plugin_is_written_in_a_preview(programs: Programs) -> None:
    before = [resource.id for resource in programs.account.everything()]
    assert programs.run("preview", NETWORK)[0] == 0
    assert [resource.id for resource in programs.account.everything()] == before
    state = json.loads((programs.folder.pulumi / "state/.pulumi/stacks/small/dev.json").read_text(encoding="utf-8"))
    assert not (state["checkpoint"].get("latest") or {}).get("resources")
