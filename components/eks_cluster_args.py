"""The stack's ``cluster.eks`` section."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import StringConstraints, field_validator, model_validator

from components.arguments import Args
from components.aws_arguments import Cidr, PrincipalArn

OPEN_ON_PURPOSE: Final = "0.0.0.0/0 on purpose"
"""The words that a stack must use to open its API endpoint to everybody."""
LogType = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]
ALL_LOG_TYPES: Final[tuple[LogType, ...]] = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_EVERYWHERE: Final = "0.0.0.0/0"


class AccessEntryArgs(Args):
    """Who may use the cluster. The principal that creates the cluster is an administrator anyway: naming it here too
    makes AWS refuse the entry (409 ResourceInUse; facts/aws.md section 11)."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=40)]
    principal_arn: PrincipalArn
    policy: Literal["cluster-admin", "admin", "edit", "view"] = "view"
    namespaces: tuple[str, ...] = ()
    """Only these namespaces; empty: the whole cluster."""

    @field_validator("principal_arn")
    @classmethod
    def _no_session(cls, value: str) -> str:
        if ":assumed-role/" in value:
            raise ValueError("is a session; name its role: arn:aws:iam::<account>:role/<role>")
        return value


class EksClusterArgs(Args):
    """An EKS cluster of our own."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$", max_length=60)]
    public_access: Literal["off", "listed networks", "0.0.0.0/0 on purpose"] = "off"
    """Who reaches the API endpoint from outside the VPC: nobody, ``public_access_cidrs``, or everybody, in these words.

    With ``off`` the Kubernetes half of ``up`` works only from inside the VPC (a runner or a VPN there).
    """
    public_access_cidrs: tuple[Cidr, ...] = ()
    log_retention_days: Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096] = 90
    access: tuple[AccessEntryArgs, ...] = ()

    @field_validator("public_access_cidrs")
    @classmethod
    def _never_everybody_by_accident(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if _EVERYWHERE in value:
            raise ValueError(
                f"opens the API to the whole internet; if that is meant, leave this out and write "
                f'public_access: "{OPEN_ON_PURPOSE}"'
            )
        return value

    @model_validator(mode="after")
    def _networks_where_they_count(self) -> EksClusterArgs:
        if (self.public_access == "listed networks") != bool(self.public_access_cidrs):
            raise ValueError('public_access: "listed networks" and public_access_cidrs go together')
        return self

    @model_validator(mode="after")
    def _different_names(self) -> EksClusterArgs:
        names = [entry.name for entry in self.access]
        if len(set(names)) != len(names):
            raise ValueError("access: two entries have one name")
        return self

    @property
    def public_cidrs(self) -> list[str] | None:
        """The networks that the public endpoint answers; None where there is no public endpoint."""
        if self.public_access == "off":
            return None
        return [_EVERYWHERE] if self.public_access == OPEN_ON_PURPOSE else list(self.public_access_cidrs)
