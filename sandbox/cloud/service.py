"""What AWS does with a valid request: make, change and delete resources, and refuse what can't be."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from sandbox.cloud.account import Account, Resource
from sandbox.cloud.derived_nodes import SUBNET, zone_of_subnet
from sandbox.cloud.errors import AwsError, StandInError
from sandbox.cloud.references import check_references
from sandbox.cloud.resource_types import ResourceType, fill, resource_type
from sandbox.cloud.rules import check_against_account, check_alone
from sandbox.cloud.settings import ProviderSettings
from sandbox.cloud.templates import LAUNCH_TEMPLATE, TEMPLATE_VERSION, template_of
from sandbox.cloud.values import Plain
from sandbox.zones import zone_name

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
CLUSTER = "aws:eks/cluster:Cluster"

_DUPLICATES = {
    "aws:eks": ("ResourceInUseException", "{kind} already exists: {id}"),
    "aws:iam": ("EntityAlreadyExists", "{kind} with name {id} already exists."),
    "aws:kms": ("AlreadyExistsException", "An alias with the name {id} already exists"),
    "aws:cloudwatch": ("ResourceAlreadyExistsException", "The specified log group already exists: {id}"),
    "aws:ec2": ("InvalidPlacementGroup.Duplicate", "{kind} {id} already exists."),
}


class Cluster(Protocol):
    """The Kubernetes cluster behind ``aws.eks.Cluster``: its API server, and the nodes that groups bring."""

    @property
    def endpoint(self) -> str:
        """URL of the API server."""

    @property
    def certificate_authority(self) -> str:
        """Its authority's certificate, PEM in base64."""

    def set_nodes(self, group: Resource, template: Mapping[str, Any] | None, account: Account) -> None:
        """Bring the group's nodes to what group and template say; a group with desired size 0 has none."""

    def remove_nodes(self, group_name: str) -> None:
        """Drain and delete all nodes of a group."""


class Service:
    """The account together with the cluster that stands behind it."""

    def __init__(self, account: Account, cluster: Cluster) -> None:
        self.account = account
        self._cluster = cluster

    def create(self, token: str, urn: str, inputs: Mapping[str, Plain], settings: ProviderSettings) -> Resource:
        """Make a resource.

        Raises:
            AwsError: AWS would refuse it.
        """
        row = resource_type(token)
        self._check(token, inputs, None)
        given_name = _given_name(row, inputs)
        words: dict[str, Any] = {**inputs, **given_name, **settings.words()}
        if token == CLUSTER:
            self._refuse_a_second_cluster()
            words |= {"endpoint": self._cluster.endpoint, "certificate_authority": self._cluster.certificate_authority}
        resource_id = fill(row.id, words)
        if self.account.get(token, resource_id) is not None:
            raise _already_exists(token, resource_id)
        words["id"] = resource_id
        outputs = _outputs(row, inputs, words) | given_name
        if token == SUBNET:
            outputs["availabilityZoneId"] = zone_of_subnet(inputs)
            outputs["availabilityZone"] = zone_name(outputs["availabilityZoneId"])
        resource = Resource(token, resource_id, urn, dict(inputs), outputs)
        self._apply(resource)
        return resource

    def update(self, token: str, resource_id: str, urn: str, inputs: Mapping[str, Plain]) -> Resource:
        """Change a resource in place.

        Raises:
            AwsError: it is gone, or AWS would refuse the change.
        """
        row = resource_type(token)
        old = self._existing(token, resource_id)
        self._check(token, inputs, old)
        outputs = dict(old.outputs)
        for name in row.nested_outputs:
            outputs[name] = {**old.outputs[name], **_mapping(inputs.get(name))}
        if token == LAUNCH_TEMPLATE:
            outputs["latestVersion"] = int(old.outputs["latestVersion"]) + 1
            if inputs.get("updateDefaultVersion"):
                outputs["defaultVersion"] = outputs["latestVersion"]
        resource = replace(old, urn=urn, inputs=dict(inputs), outputs=outputs)
        self._apply(resource)
        return resource

    def delete(self, token: str, resource_id: str) -> None:
        """Delete a resource; one that is gone already is fine.

        Raises:
            AwsError: another resource needs it, or it is protected from deletion.
        """
        resource = self.account.get(token, resource_id)
        if resource is None:
            return
        self._refuse_deletion(resource)
        if token == NODE_GROUP:
            self._cluster.remove_nodes(resource.state["nodeGroupName"])
        for inner in self._inside(resource):
            self.account.remove(inner)
        self.account.remove(resource)

    def _inside(self, resource: Resource) -> list[Resource]:
        """What goes with the resource: a template's versions; a cluster's add-ons, access entries and associations."""
        if resource.type == LAUNCH_TEMPLATE:
            versions = self.account.of_type(TEMPLATE_VERSION)
            return [version for version in versions if version.id.startswith(f"{resource.id}:")]
        if resource.type == CLUSTER:
            return [other for other in self.account.everything() if other.inputs.get("clusterName") == resource.id]
        return []

    def _check(self, token: str, inputs: Mapping[str, Plain], old: Resource | None) -> None:
        check_alone(token, inputs)
        check_references(inputs, self.account)
        check_against_account(token, inputs, self.account, old)

    def _apply(self, resource: Resource) -> None:
        if resource.type == LAUNCH_TEMPLATE:
            version = f"{resource.id}:{resource.outputs['latestVersion']}"
            self.account.put(Resource(TEMPLATE_VERSION, version, "", resource.inputs))
        # Its nodes first: whoever dies in between leaves nodes without a group, and the next `up` makes the group over
        # them. The other way round the group would look complete.
        if resource.type == NODE_GROUP:
            self._cluster.set_nodes(resource, template_of(resource.inputs, self.account), self.account)
        self.account.put(resource)

    def _existing(self, token: str, resource_id: str) -> Resource:
        resource = self.account.get(token, resource_id)
        if resource is None:
            raise AwsError("ResourceNotFoundException", f"{resource_id} does not exist. Run `refresh` first.")
        return resource

    def _refuse_a_second_cluster(self) -> None:
        for other in self.account.of_type(CLUSTER):
            stack = other.urn.split("::")[0].rpartition(":")[2]
            raise StandInError(
                f"The sandbox has one control plane, and {other.id} is on it (stack {stack}). "
                "Destroy that stack first, or use a second sandbox (GPU_INFERENCE_SANDBOX_DIR)."
            )

    def _refuse_deletion(self, resource: Resource) -> None:
        if resource.inputs.get("deletionProtection"):
            raise AwsError(
                "InvalidRequestException",
                f"Cluster {resource.id} has deletion protection. Set deletion_protection to false and deploy that, "
                "then delete it.",
            )
        in_use = resource_type(resource.type).in_use
        if in_use is None:
            return
        users = [
            user
            for user in self.account.users_of(resource)
            if user.type != TEMPLATE_VERSION
            and not resource_type(user.type).only_names
            and (not in_use.by or user.type in in_use.by)
        ]
        if users:
            named = ", ".join(f"{user.type.rpartition(':')[2]} {user.id}" for user in users[:3])
            raise AwsError(in_use.code, f"{fill(in_use.message, {'id': resource.id})} It is used by: {named}.")


def _outputs(row: ResourceType, inputs: Mapping[str, Plain], words: dict[str, Any]) -> dict[str, Any]:
    arn = {"arn": fill(row.arn, words)} if row.arn else {}
    outputs: dict[str, Any] = {**fill(row.outputs, {**words, **arn}), **arn}
    for name, nested in row.nested_outputs.items():
        outputs[name] = {**_mapping(inputs.get(name)), **fill(nested, words)}
    return outputs


def _given_name(row: ResourceType, inputs: Mapping[str, Plain]) -> dict[str, str]:
    """The name that the provider makes of a prefix: with the time, as Terraform's provider does."""
    if row.name is None or row.name in inputs:
        return {}
    return {row.name: f"{inputs[f'{row.name}Prefix']}{datetime.datetime.now(datetime.UTC):%Y%m%d%H%M%S%f}"}


def _mapping(value: Plain) -> Mapping[str, Plain]:
    return value if isinstance(value, Mapping) else {}


def _already_exists(token: str, resource_id: str) -> AwsError:
    service = token.partition("/")[0]
    code, message = _DUPLICATES.get(service, ("ResourceAlreadyExists", "{kind} {id} already exists."))
    return AwsError(code, message.format(kind=token.rpartition(":")[2], id=resource_id))
