"""Checks launch templates and node groups against botocore's models of the API calls that make them.

The API's model is newer than CloudFormation's schema and knows members that this lacks, such as ``efa-only`` counts and
update strategies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape
from botocore.validate import ParamValidator

from sandbox.cloud.schema_words import coerced, schema_name
from sandbox.cloud.sdk_types import Mistake
from sandbox.cloud.values import UNKNOWN, Plain, without_indices

_LAUNCH_TEMPLATE_WORDS = {
    "vpcSecurityGroupIds": "SecurityGroupIds",
    "securityGroupNames": "SecurityGroups",
    "networkInterfaces.securityGroups": "Groups",
    "networkInterfaces.ipv4AddressCount": "SecondaryPrivateIpAddressCount",
    "networkInterfaces.ipv4Addresses": "PrivateIpAddresses",
}
_NODE_GROUP_WORDS = {"nodeGroupName": "nodegroupName", "nodeRoleArn": "nodeRole", "subnetIds": "subnets"}
_JSON_TYPES = {"boolean": "boolean", "integer": "integer", "long": "integer", "string": "string"}


@cache
def _shape(service: str, name: str) -> Shape:
    model = ServiceModel(Loader().load_service_model(service, "service-2"), service_name=service)
    return model.shape_for(name)


def launch_template_mistakes(inputs: Mapping[str, Plain]) -> list[Mistake]:
    """What EC2's CreateLaunchTemplate says against the template's data."""
    return _mistakes(_shape("ec2", "RequestLaunchTemplateData"), inputs, _LAUNCH_TEMPLATE_WORDS)


def node_group_mistakes(inputs: Mapping[str, Plain]) -> list[Mistake]:
    """What EKS's CreateNodegroup says against the inputs."""
    return _mistakes(_shape("eks", "CreateNodegroupRequest"), inputs, _NODE_GROUP_WORDS)


def _mistakes(shape: Shape, inputs: Mapping[str, Plain], renamed: Mapping[str, str]) -> list[Mistake]:
    parameters, found = _translated(shape, inputs, "", renamed)
    # What is required the SDK's types know better: here, unknown values are left out.
    report = ParamValidator().validate(parameters, shape)
    texts = [line for line in report.generate_report().splitlines() if "Missing required parameter" not in line]
    return [*found, *(Mistake("", f"the API's model says: {text}") for text in texts)]


def _translated(shape: Shape, value: Plain, path: str, renamed: Mapping[str, str]) -> tuple[Any, list[Mistake]]:
    """The value in the API's words, without what the model has no word for; and values that its enums don't have."""
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        members: dict[str, Any] = {}
        found: list[Mistake] = []
        for name, word, item in _members(shape, value, path, renamed):
            translated, more = _translated(shape.members[word], item, f"{path}.{name}" if path else name, renamed)
            members[word] = translated
            found += more
        return members, found
    if isinstance(shape, ListShape) and isinstance(value, list):
        pairs = [
            _translated(shape.member, item, f"{path}[{index}]", renamed)
            for index, item in enumerate(value)
            if item is not UNKNOWN
        ]
        return [translated for translated, _ in pairs], [mistake for _, more in pairs for mistake in more]
    if isinstance(shape, MapShape):
        return value, []
    scalar = coerced(value, _JSON_TYPES.get(shape.type_name, ""))
    allowed = getattr(shape, "enum", None) or ()
    if allowed and scalar not in allowed:
        return scalar, [Mistake(path, f"{scalar!r} is not known to AWS; allowed: {', '.join(sorted(allowed))}")]
    return scalar, []


def _members(
    shape: StructureShape, value: Mapping[str, Plain], path: str, renamed: Mapping[str, str]
) -> Iterator[tuple[str, str, Plain]]:
    for name, item in value.items():
        here = without_indices(f"{path}.{name}" if path else name)
        word = schema_name(name, here, shape.members, renamed)
        if word is not None and name not in ("tags", "tagsAll", "tagSpecifications") and item is not UNKNOWN:
            yield name, word, item
