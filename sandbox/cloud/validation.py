"""Everything that can be said against a resource's inputs before it exists, from the surest source to the narrowest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.cloud.api_models import launch_template_mistakes, node_group_mistakes
from sandbox.cloud.cloudformation import schema_mistakes
from sandbox.cloud.errors import AwsError
from sandbox.cloud.rules import check_alone
from sandbox.cloud.sdk_types import Mistake, mistakes
from sandbox.cloud.values import Plain

_API_MODELS: dict[str, Callable[[Mapping[str, Plain]], list[Mistake]]] = {
    "aws:ec2/launchTemplate:LaunchTemplate": launch_template_mistakes,
    "aws:eks/nodeGroup:NodeGroup": node_group_mistakes,
}


def mistakes_of(token: str, inputs: Mapping[str, Plain]) -> list[Mistake]:
    """The SDK's types first: where they object, AWS's own schemas and rules would only say so again."""
    found = mistakes(token, inputs)
    if found:
        return found
    found = schema_mistakes(token, inputs)
    paths = {mistake.path for mistake in found}
    if token in _API_MODELS:
        found += [mistake for mistake in _API_MODELS[token](inputs) if mistake.path not in paths]
    if not found:
        try:
            check_alone(token, inputs)
        except AwsError as error:
            found.append(Mistake("", f"AWS refuses this: {error}"))
    return found
