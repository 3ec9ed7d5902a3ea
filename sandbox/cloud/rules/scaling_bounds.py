"""A node group's desired size lies between its least and its most."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.cloud.errors import AwsError
from sandbox.cloud.values import Plain


def check(group: Mapping[str, Plain]) -> None:
    """Raise AwsError where it does not. The sentences are AWS's words."""
    scaling = group.get("scalingConfig")
    if not isinstance(scaling, Mapping):
        return
    least, desired, most = scaling.get("minSize"), scaling.get("desiredSize"), scaling.get("maxSize")
    if not (isinstance(least, int) and isinstance(desired, int) and isinstance(most, int)):
        return
    if least > desired:
        raise AwsError(
            "InvalidParameterException", f"Minimum capacity {least} can't be greater than desired size {desired}"
        )
    if desired > most:
        raise AwsError("InvalidParameterException", f"desired capacity {desired} can't be greater than max size {most}")
