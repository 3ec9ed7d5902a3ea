"""Wrong values in the AWS sections of a stack file: each a sentence with its place and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.aws_arguments import zone_prefix
from infra.checks import check
from infra.settings import SettingsError, parse_settings
from tests.aws_groups import BLOCK, NEXT_BLOCK, ODCR, blocks
from tests.stack_files import flat, stack_config

PREFIX = "gpu-inference:"
Change = Callable[[dict[str, Any]], Any]


def problems(change: Change, stack: str = "prod") -> list[tuple[str, str]]:
    given = stack_config(stack)
    config = {key.removeprefix(PREFIX): value for key, value in given.items() if key.startswith(PREFIX)}
    change(config)
    try:
        found = check(parse_settings(flat({f"{PREFIX}{key}": value for key, value in config.items()}), [], stack))
    except SettingsError as error:
        found = list(error.problems)
    return [(problem.path, problem.message) for problem in found]


def eks(**values: Any) -> Change:
    return lambda config: config["cluster"]["eks"].update(values)


def group(**values: Any) -> Change:
    return lambda config: config["node_groups"][0].update(values)


def capacity(**values: Any) -> Change:
    return lambda config: config["node_groups"][0].update(capacity=ODCR | values)


def section(name: str, **values: Any) -> Change:
    return lambda config: config.setdefault(name, {}).update(values)


@pytest.mark.parametrize("stack", ["sandbox", "dev", "staging", "prod"])
def test_the_stacks_are_right(stack: str) -> None:
    assert problems(lambda _: None, stack) == []


@pytest.mark.parametrize(
    ("change", "path", "sentence"),
    [
        (eks(public_access_cidrs=["0.0.0.0/0"]), "cluster.eks.public_access_cidrs", "0.0.0.0/0 on purpose"),
        (eks(public_access="listed networks"), "cluster.eks", "go together"),
        (eks(public_access="0.0.0.0/0"), "cluster.eks.public_access", "0.0.0.0/0 on purpose"),
        (eks(public_access_cidrs=["10.0.0.1/8"]), "cluster.eks.public_access_cidrs[0]", "no IPv4 network"),
        (eks(version="1.35"), "cluster.eks.version", "unknown key"),
        (
            eks(access=[{"name": "a", "principal_arn": "arn:aws:sts::1:x"}]),
            "cluster.eks.access[0].principal_arn",
            "ARN",
        ),
        (eks(log_retention_days=31), "cluster.eks.log_retention_days", "30"),
        (lambda c: c["cluster"].update(existing={"kubeconfig": "k"}), "cluster", "exactly one of existing and eks"),
        (lambda c: c.update(cluster={}), "cluster", "exactly one of existing and eks"),
        (lambda c: c.pop("aws"), "aws", "cluster.eks needs it"),
        (lambda c: c.pop("network"), "network", "cluster.eks needs it"),
        (section("aws", allowed_account_ids=[]), "aws.allowed_account_ids", "at least one"),
        (section("aws", allowed_account_ids=["1234"]), "aws.allowed_account_ids[0]", "12 digits"),
        (section("aws", allowed_account_ids=[111122223333]), "aws.allowed_account_ids[0]", "string"),
        (section("aws", region="virginia"), "aws.region", "us-east-1"),
        (section("network", cidr="10.0.0.0/20"), "network.cidr", "/16 to /18"),
        (section("network", zones=["us-east-1a", "use1-az2"]), "network.zones[0]", "use1-az4"),
        (section("network", zones=["use1-az2"]), "network.zones", "two at least"),
        (section("network", zones=["use1-az2", "use1-az6"]), "node_groups[0].capacity.zone", "NAT gateway"),
        (section("network", interface_endpoints=["ec3"]), "network.interface_endpoints[0]", "ecr.api"),
        (capacity(zone="usw2-az1"), "node_groups[0].capacity.zone", "not in us-east-1"),
        (capacity(instance_count=1), "node_groups[0].count", "1 instances are reserved"),
        (capacity(kind="spot"), "node_groups[0].capacity", "'on_demand', 'odcr', 'capacity_block'"),
        (capacity(reservation_id="cr-x"), "node_groups[0].capacity.reservation_id", "cr-0123456789abcdef0"),
        (capacity(reservation_id=None), "node_groups[0].capacity", "exactly one of reservation_id"),
        (capacity(zones=["use1-az4"]), "node_groups[0].capacity.zones", "unknown key"),
        (group(capacity=None), "node_groups[0].capacity", "allowed kinds: on_demand, odcr, capacity_block"),
        (group(capacity={"zone": "use1-az4"}), "node_groups[0].capacity", "says no kind"),
        (group(instance_type="m7i.xlarge"), "node_groups[0].instance_type", "system_nodes"),
        (group(instance_type="p5.48xlage"), "node_groups[0].instance_type", "did you mean p5.48xlarge"),
        (group(network_layout="bandwidth-optimized"), "node_groups[0].network_layout", "bandwidth-optimised"),
        (group(ami="bottlerocket"), "node_groups[0]", "release_version: is needed for bottlerocket"),
        (group(release_version="1.35.6-20260714"), "node_groups[0]", "not for Kubernetes 1.36"),
        (group(root_volume_gib=20), "node_groups[0].root_volume_gib", "100"),
        (group(desired_count=3), "node_groups[0]", "desired_count: 3 is more than count, 2"),
        (group(labels={"nvidia.com/x": "y"}), "node_groups[0].labels", "set by others"),
        (group(capacity=blocks(BLOCK, BLOCK)), "node_groups[0].capacity.blocks", "names a reservation twice"),
        (
            group(capacity=blocks(BLOCK | {"instance_count": 1})),
            "node_groups[0].capacity.blocks[0].instance_count",
            "wants 2 nodes",
        ),
        (
            group(capacity=blocks(BLOCK | {"end": "2026-11-01T00:00:00Z"})),
            "node_groups[0].capacity.blocks[0].end",
            "not after start",
        ),
        (
            group(capacity=blocks(BLOCK | {"start": "2026-12-01T11:30:00"})),
            "node_groups[0].capacity.blocks[0].start",
            "timezone",
        ),
        (
            group(capacity=blocks(BLOCK | {"zone": "use1-az4"}), scaled_by="cluster-autoscaler"),
            "node_groups[0].scaled_by",
            "sizes by time",
        ),
        (section("model_cache", storage_gib=3000), "model_cache", "1200, 2400 and multiples of 2400"),
        (section("model_cache", efs={}), "model_cache", "choose one of: fsx, efs, node_local, storage_class"),
        (section("model_cache", fsx={"zone": "use1-az2"}), "model_cache.fsx.zone", "GPUs are in use1-az4"),
        (section("model_cache", fsx={"s3_import": {"path": "bucket"}}), "model_cache.fsx.s3_import.path", "pattern"),
        (section("system_nodes", count=9), "system_nodes", "more than max_count"),
        (
            lambda c: c.update(external_secrets=[{"name": "t", "secret_arn": "hf-token"}]),
            "external_secrets[0].secret_arn",
            "Secrets Manager ARN",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_place(change: Change, path: str, sentence: str) -> None:
    found = problems(change)
    assert [place for place, _ in found] == [path]
    assert sentence in found[0][1]


def test_blocks_in_two_zones_need_a_zone_for_the_file_system() -> None:
    def change(config: dict[str, Any]) -> None:
        config["node_groups"][0]["capacity"] = blocks(BLOCK, NEXT_BLOCK | {"zone": "use1-az4"})
        config["model_cache"].pop("fsx")

    assert problems(change) == [
        (
            "model_cache.fsx.zone",
            "the GPU groups are in use1-az6, use1-az4, and FSx for Lustre is in one zone: say which",
        )
    ]


def test_one_reservation_is_the_capacity_of_one_group() -> None:
    def change(config: dict[str, Any]) -> None:
        config["node_groups"].append(config["node_groups"][0] | {"name": "second"})

    (path, message), *others = problems(change)
    assert (path, others) == ("node_groups[1].capacity", [])
    assert "already the capacity of node_groups[0].capacity" in message


def test_an_existing_cluster_takes_no_section_that_makes_one() -> None:
    def change(config: dict[str, Any]) -> None:
        config["cluster"] = {"existing": {"kubeconfig": "~/.kube/config"}}

    assert [path for path, _ in problems(change)] == [
        "aws",
        "network",
        "system_nodes",
        "node_groups[0].capacity",
        "model_cache",
    ]


def test_an_existing_cluster_with_a_storage_class_of_its_own() -> None:
    def change(config: dict[str, Any]) -> None:
        config["cluster"] = {"existing": {"kubeconfig": "~/.kube/config"}}
        for name in ("aws", "network", "system_nodes"):
            del config[name]
        del config["node_groups"][0]["capacity"]
        config["model_cache"] = {"storage_gib": 500, "storage_class": "efs"}

    assert problems(change) == []


@pytest.mark.parametrize(
    ("region", "prefix"),
    [
        ("us-east-1", "use1"),
        ("us-west-2", "usw2"),
        ("ap-northeast-2", "apne2"),
        ("ap-south-1", "aps1"),
        ("ap-southeast-2", "apse2"),
        ("ca-central-1", "cac1"),
        ("eu-north-1", "eun1"),
        ("us-gov-west-1", "usgw1"),
    ],
)
def test_zone_ids_begin_with_their_region(region: str, prefix: str) -> None:
    assert zone_prefix(region) == prefix


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    name=st.sampled_from(["aws", "network", "cluster", "node_groups", "system_nodes", "model_cache"]), value=anything
)
def test_no_value_of_a_section_is_a_traceback(name: str, value: Any) -> None:
    problems(lambda config: config.update({name: value}))


@given(key=st.sampled_from(sorted(ODCR)), value=anything)
def test_no_value_of_a_capacity_is_a_traceback(key: str, value: Any) -> None:
    problems(lambda config: config["node_groups"][0].update(capacity=ODCR | {key: value}))


@given(key=st.sampled_from(sorted(BLOCK)), value=anything)
def test_no_value_of_a_block_is_a_traceback(key: str, value: Any) -> None:
    problems(lambda config: config["node_groups"][0].update(capacity=blocks(BLOCK | {key: value})))
