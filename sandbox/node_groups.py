"""The declared list of node groups: what the sandbox's cluster consists of.

It stands in a stack file, under ``config``, key ``gpu-inference:node_groups``; this module reads and checks it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from catalog.facts import UnknownFactError
from catalog.instance_types import InstanceType, instance_type
from sandbox.errors import InputError

CONFIG_KEY = "gpu-inference:node_groups"
MAXIMUM_NODES = 100
"""For one group. More than a laptop's control plane carries well in the sandbox's memory."""

REGIONS = {
    "apne1": "ap-northeast-1",
    "apne2": "ap-northeast-2",
    "aps1": "ap-south-1",
    "apse1": "ap-southeast-1",
    "apse2": "ap-southeast-2",
    "cac1": "ca-central-1",
    "euc1": "eu-central-1",
    "eun1": "eu-north-1",
    "euw1": "eu-west-1",
    "euw2": "eu-west-2",
    "sae1": "sa-east-1",
    "use1": "us-east-1",
    "use2": "us-east-2",
    "usw1": "us-west-1",
    "usw2": "us-west-2",
}
"""AWS region by the prefix of its availability zone ids."""

_ZONE_ID = re.compile(r"(?P<region>[a-z]+\d)-az(?P<number>[1-6])")


def _known_instance_type(name: str) -> str:
    try:
        return instance_type(name).name
    except UnknownFactError as error:
        raise ValueError(str(error)) from None


def _known_zone(zone_id: str) -> str:
    match = _ZONE_ID.fullmatch(zone_id)
    if not match or match["region"] not in REGIONS:
        raise ValueError(
            f"not an availability zone id: write it as use1-az1 (zone letters differ between accounts); "
            f"regions: {', '.join(REGIONS)}"
        )
    return zone_id


ZoneId = Annotated[str, AfterValidator(_known_zone)]


def region(zone_id: str) -> str:
    """The region of a zone id: ``use1-az1`` is in ``us-east-1``."""
    return REGIONS[zone_id.partition("-")[0]]


def zone_name(zone_id: str) -> str:
    """A zone's name in the sandbox's imaginary account, where az1 is called a: ``use1-az1`` is ``us-east-1a``."""
    return region(zone_id) + chr(ord("a") + int(zone_id[-1]) - 1)


class Taint(BaseModel):
    """A taint of every node of a group, as Kubernetes writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Annotated[str, Field(min_length=1)]
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class NodeGroup(BaseModel):
    """``count`` nodes of one EC2 instance type, spread over ``zones`` in turn.

    ``labels`` and ``taints`` come on top of those that EKS and the GPU operator set (see ``sandbox.nodes``).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$")]
    instance_type: Annotated[str, AfterValidator(_known_instance_type)]
    count: Annotated[int, Field(ge=0, le=MAXIMUM_NODES, strict=True)]
    zones: Annotated[tuple[ZoneId, ...], Field(min_length=1)]
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()

    @property
    def instance(self) -> InstanceType:
        """The catalog's row of the instance type."""
        return instance_type(self.instance_type)


_GROUPS: TypeAdapter[tuple[NodeGroup, ...]] = TypeAdapter(tuple[NodeGroup, ...])


def read_node_groups(path: Path) -> tuple[NodeGroup, ...]:
    """The node groups that a stack file declares.

    Raises:
        InputError: the file can't be read, or the list is wrong; every mistake is named with its line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. Name a stack file: python -m sandbox up --nodes FILE.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read: {error}.") from None
    try:
        document = yaml.safe_load(text)
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {error}") from None
    config = document.get("config") if isinstance(document, dict) else None
    if not isinstance(config, dict) or CONFIG_KEY not in config:
        raise InputError(f"{path} has no node groups: write the list under config, key {CONFIG_KEY}.")
    try:
        groups = _GROUPS.validate_python(config[CONFIG_KEY])
    except ValidationError as error:
        mistakes = [_sentence(path, tree, mistake) for mistake in error.errors()]
        raise InputError("\n".join(mistakes)) from None
    _check_together(path, groups)
    return groups


def _check_together(path: Path, groups: Sequence[NodeGroup]) -> None:
    names = [group.name for group in groups]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{path}: {CONFIG_KEY}: two groups are called {twice[0]}. Give each its own name.")
    regions = sorted({region(zone) for group in groups for zone in group.zones})
    if len(regions) > 1:
        raise InputError(
            f"{path}: {CONFIG_KEY}: one cluster is in one region, these zones are in {', '.join(regions)}."
        )


def _sentence(path: Path, tree: yaml.Node | None, mistake: Mapping[str, Any]) -> str:
    location = ["config", CONFIG_KEY, *mistake["loc"]]
    where = CONFIG_KEY + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake["loc"])
    if mistake["type"] == "extra_forbidden":
        what = f"unknown key; allowed: {', '.join(NodeGroup.model_fields)}"
        if "taints" in mistake["loc"]:
            what = f"unknown key; allowed: {', '.join(Taint.model_fields)}"
    elif mistake["type"] == "missing":
        what = "is missing"
    else:
        what = f"{mistake['input']!r}: {mistake['msg'].removeprefix('Value error, ')}"
    return f"{path}:{_line(tree, location)}: {where}: {what}"


def _line(tree: yaml.Node | None, location: Sequence[str | int]) -> int:
    """The line of the deepest part of ``location`` that is there, counted from 1."""
    node, line = tree, 1
    for part in location:
        child: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            child = next((value for key, value in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            child = node.value[part]
        if child is None:
            break
        node, line = child, child.start_mark.line + 1
    return line
