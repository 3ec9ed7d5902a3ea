"""The doctor's questions and verdicts, with answers as the AWS CLI gives them."""

from __future__ import annotations

import copy
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from sandbox.stacks.doctor import CliError, findings, principal

CONFIG: dict[str, Any] = {
    "gpu-inference:aws": {"region": "us-east-1", "allowed_account_ids": ["111122223333"]},
    "gpu-inference:cluster": {"eks": {"name": "gpu"}},
    "gpu-inference:node_groups": [
        {
            "name": "p5",
            "instance_type": "p5.48xlarge",
            "count": 2,
            "capacity": {"kind": "odcr", "reservation_id": "cr-1", "zone": "use1-az4", "instance_count": 2},
        }
    ],
}
ANSWERS: dict[str, Any] = {
    "get-caller-identity": {
        "Account": "111122223333",
        "Arn": "arn:aws:sts::111122223333:assumed-role/deployer/me",
    },
    "get-service-quota": {"Quota": {"Value": 384.0}},
    "describe-capacity-reservations": {
        "CapacityReservations": [
            {
                "InstanceType": "p5.48xlarge",
                "AvailabilityZoneId": "use1-az4",
                "TotalInstanceCount": 2,
                "State": "active",
            }
        ]
    },
    "describe-cluster": CliError("ResourceNotFoundException: No cluster found for name: gpu."),
}


def verdicts(config: dict[str, Any] = CONFIG, **answers: Any) -> list[tuple[str, str]]:
    """Verdict and sentence of each finding; ``answers`` by the CLI's command with _ for -."""
    known = {**ANSWERS, **{name.replace("_", "-"): answer for name, answer in answers.items()}}

    def ask(arguments: Sequence[str]) -> Any:
        answer = known[arguments[1]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return [(found.verdict, found.sentence) for found in findings(config, ask)]


def test_a_stack_that_may_run() -> None:
    found = verdicts()
    assert [verdict for verdict, _ in found] == ["ok", "ok", "ok", "not checked"]
    assert found[1][1] == "P-family quota is 384 vCPUs, the stack's groups need 384"
    assert found[3][1] == "Endpoint and access of cluster gpu: there is no such cluster yet"


def test_without_credentials_nothing_else_is_asked() -> None:
    [(verdict, sentence)] = verdicts(get_caller_identity=CliError("Unable to locate credentials"))
    assert verdict == "problem"
    assert "Unable to locate credentials" in sentence


def test_another_account() -> None:
    other = {"Account": "999999999999", "Arn": "arn:aws:iam::999999999999:user/me"}
    assert verdicts(get_caller_identity=other)[0] == (
        "problem",
        "Credentials are for account 999999999999; the stack allows only 111122223333",
    )


def test_a_small_quota_and_one_that_may_not_be_read() -> None:
    assert verdicts(get_service_quota={"Quota": {"Value": 0.0}})[1][0] == "problem"
    assert verdicts(get_service_quota=CliError("AccessDenied"))[1] == ("not checked", "P-family quota: AccessDenied")


def test_a_capacity_block_needs_no_quota() -> None:
    config = copy.deepcopy(CONFIG)
    config["gpu-inference:node_groups"][0]["capacity"] = {
        "kind": "capacity_block",
        "blocks": [{"reservation_id": "cr-1", "zone": "use1-az4", "instance_count": 2}],
    }
    assert not [sentence for _, sentence in verdicts(config) if "quota" in sentence]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"AvailabilityZoneId": "use1-az1"}, "is in use1-az1, the stack says use1-az4"),
        ({"InstanceType": "p5e.48xlarge"}, "is for p5e.48xlarge, the group has p5.48xlarge"),
        ({"TotalInstanceCount": 1}, "holds 1 instances, the stack says 2"),
        ({"State": "expired"}, "is expired"),
    ],
)
def test_a_reservation_that_is_another(change: dict[str, Any], sentence: str) -> None:
    [right] = ANSWERS["describe-capacity-reservations"]["CapacityReservations"]
    found = verdicts(describe_capacity_reservations={"CapacityReservations": [{**right, **change}]})
    assert found[2] == ("problem", f"Reservation cr-1 of group p5: {sentence}")


def test_a_cluster_out_of_reach_and_a_deployer_without_access(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(address: tuple[str, int], timeout: float) -> socket.socket:
        raise TimeoutError(f"timed out to {address[0]}")

    monkeypatch.setattr(socket, "create_connection", refuse)
    found = verdicts(
        describe_cluster={"cluster": {"endpoint": "https://x.eks.amazonaws.com"}},
        list_access_entries={"accessEntries": ["arn:aws:iam::111122223333:role/other"]},
    )
    assert "timed out to x.eks.amazonaws.com" in found[3][1]
    assert found[4][0] == "problem"
    assert found[4][1].startswith("arn:aws:iam::111122223333:role/deployer has no access entry in gpu")


def test_the_principal_of_a_session_is_its_role() -> None:
    assert principal("arn:aws:sts::1:assumed-role/deployer/me") == "arn:aws:iam::1:role/deployer"
    assert principal("arn:aws:iam::1:user/me") == "arn:aws:iam::1:user/me"
