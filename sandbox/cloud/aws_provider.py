"""The stand-in for the ``aws`` provider plugin: between the engine's requests and the imaginary account."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.provider import (
    CheckFailure,
    CheckRequest,
    CheckResponse,
    ConfigureRequest,
    ConfigureResponse,
    CreateRequest,
    CreateResponse,
    DeleteRequest,
    DiffRequest,
    DiffResponse,
    InvokeRequest,
    InvokeResponse,
    PropertyDiff,
    PropertyDiffKind,
    Provider,
    ReadRequest,
    ReadResponse,
    UpdateRequest,
    UpdateResponse,
)

from sandbox.cloud.differences import Difference, deletes_before_replacing, differences
from sandbox.cloud.errors import StandInError
from sandbox.cloud.invokes import invoke
from sandbox.cloud.resource_types import automatic_name, resource_type
from sandbox.cloud.sdk_types import computed_names, output_names
from sandbox.cloud.service import Service
from sandbox.cloud.settings import ProviderSettings, provider_settings
from sandbox.cloud.validation import mistakes_of
from sandbox.cloud.values import UNKNOWN, Plain, to_plain_map, to_property_map

_DIFF_NONE, _DIFF_SOME = 1, 2
"""Of the protocol's enum DiffChanges: the SDK's server hands DiffConfig's answer on as it is."""


class AwsStandIn(Provider):
    """Plays AWS on the resources that ``service`` keeps."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._settings: ProviderSettings | None = None

    @property
    def settings(self) -> ProviderSettings:
        """What ``configure`` was told."""
        if self._settings is None:
            raise StandInError("The aws provider was used before it was configured.")
        return self._settings

    async def check_config(self, request: CheckRequest) -> CheckResponse:
        """Any configuration will do; ``configure`` reads what counts."""
        return CheckResponse(inputs=request.new_inputs)

    async def diff_config(self, request: DiffRequest) -> DiffResponse:
        """A changed configuration replaces nothing: the resources stay where they are."""
        same = to_plain_map(request.old_state) == to_plain_map(request.new_inputs)
        return DiffResponse(changes=_DIFF_NONE if same else _DIFF_SOME, detailed_diff={}, replaces=[])

    async def configure(self, request: ConfigureRequest) -> ConfigureResponse:
        """Remember region, account and default tags. The engine keeps secrets and references to itself."""
        self._settings = provider_settings(to_plain_map(request.args))
        return ConfigureResponse(supports_preview=True)

    async def invoke(self, request: InvokeRequest) -> InvokeResponse:
        """Answer a function such as ``aws:index/getCallerIdentity:getCallerIdentity``."""
        answer = invoke(request.tok, to_plain_map(request.args), self.settings, self._service.account)
        return InvokeResponse(to_property_map(answer))

    async def check(self, request: CheckRequest) -> CheckResponse:
        """Name what has no name, and say everything that is wrong."""
        row = resource_type(_token(request.urn))
        inputs = to_plain_map(request.new_inputs)
        if row.name and row.name not in inputs and f"{row.name}Prefix" not in inputs:
            old_name = to_plain_map(request.old_inputs).get(row.name)
            inputs[row.name] = old_name or automatic_name(row, request.name, request.random_seed)
        found = mistakes_of(_token(request.urn), inputs)
        if "tagsAll" in output_names(_token(request.urn)):
            inputs["tagsAll"] = self._all_tags(inputs)
        return CheckResponse(
            inputs=to_property_map(inputs),
            failures=[CheckFailure(property=mistake.path, reason=mistake.message) for mistake in found],
        )

    async def diff(self, request: DiffRequest) -> DiffResponse:
        """Compare inputs with inputs (``serve`` puts the old ones where the SDK's server has the old state)."""
        row = resource_type(_token(request.urn))
        old, new = to_plain_map(request.old_state), to_plain_map(request.new_inputs)
        found = differences(row, old, new)
        replaces = [difference.path for difference in found if difference.replaces]
        return DiffResponse(
            changes=bool(found),
            replaces=replaces,
            delete_before_replace=bool(replaces) and deletes_before_replacing(row, old, new),
            diffs=[difference.path for difference in found],
            detailed_diff={difference.path: PropertyDiff(_kind(difference), input_diff=True) for difference in found},
        )

    async def create(self, request: CreateRequest) -> CreateResponse:
        """Create in the account; in a preview, say what is known and what will only be known then."""
        inputs = to_plain_map(request.properties)
        if request.preview:
            return CreateResponse(
                resource_id="", properties=to_property_map(self._foreseen(_token(request.urn), inputs))
            )
        resource = await asyncio.to_thread(
            self._service.create, _token(request.urn), request.urn, inputs, self.settings
        )
        return CreateResponse(resource_id=resource.id, properties=to_property_map(resource.state))

    async def read(self, request: ReadRequest) -> ReadResponse:
        """What is in the account now, for refresh and import; an empty id where it is gone."""
        resource = self._service.account.get(_token(request.urn), request.resource_id)
        if resource is None:
            return ReadResponse(resource_id="", properties={}, inputs={})
        return ReadResponse(
            resource_id=resource.id,
            properties=to_property_map(resource.state),
            inputs=to_property_map(resource.inputs),
        )

    async def update(self, request: UpdateRequest) -> UpdateResponse:
        """Change in the account; in a preview, mark what the change makes new."""
        inputs = to_plain_map(request.news)
        if request.preview:
            row = resource_type(_token(request.urn))
            old_outputs = {key: value for key, value in to_plain_map(request.olds).items() if key not in inputs}
            foreseen = {**old_outputs, **inputs, **dict.fromkeys(row.new_on_update, UNKNOWN)}
            return UpdateResponse(to_property_map(foreseen))
        resource = await asyncio.to_thread(
            self._service.update, _token(request.urn), request.resource_id, request.urn, inputs
        )
        return UpdateResponse(to_property_map(resource.state))

    async def delete(self, request: DeleteRequest) -> None:
        """Delete from the account."""
        await asyncio.to_thread(self._service.delete, _token(request.urn), request.resource_id)

    async def cancel(self) -> None:
        """Nothing here goes on by itself."""

    def _foreseen(self, token: str, inputs: Mapping[str, Plain]) -> dict[str, Plain]:
        row = resource_type(token)
        foreseen = dict.fromkeys(computed_names(token), UNKNOWN) | dict(inputs)
        for name, nested in row.nested_outputs.items():
            if isinstance(inputs.get(name), Mapping):
                foreseen[name] = {**inputs[name], **dict.fromkeys(nested, UNKNOWN)}
        return foreseen

    def _all_tags(self, inputs: Mapping[str, Plain]) -> Plain:
        """The provider's default tags and the resource's own, as the bridge joins them."""
        tags: Any = inputs.get("tags") or {}
        return {**self.settings.default_tags, **tags} if isinstance(tags, Mapping) else UNKNOWN


def _token(urn: str) -> str:
    """The type token in a URN: the last of the types from the outermost parent on."""
    return urn.split("::")[2].rpartition("$")[2]


def _kind(difference: Difference) -> PropertyDiffKind:
    if difference.added:
        return PropertyDiffKind.ADD_REPLACE if difference.replaces else PropertyDiffKind.ADD
    if difference.deleted:
        return PropertyDiffKind.DELETE_REPLACE if difference.replaces else PropertyDiffKind.DELETE
    return PropertyDiffKind.UPDATE_REPLACE if difference.replaces else PropertyDiffKind.UPDATE
