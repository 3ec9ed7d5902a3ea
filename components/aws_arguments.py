"""Plain values that AWS sections of a stack file share: zone ids, CIDRs, ids and ARNs, each checked by its form."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_DIRECTIONS = {"northeast": "ne", "northwest": "nw", "southeast": "se", "southwest": "sw"}


def _pattern(pattern: str, wanted: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise ValueError(f"is no {wanted}")
        return value

    return AfterValidator(check)


def _network(value: str) -> str:
    try:
        return str(ipaddress.IPv4Network(value))
    except ValueError as error:
        raise ValueError(f"is no IPv4 network, such as 10.0.0.0/16: {error}") from None


Region = Annotated[str, _pattern(r"[a-z]{2}(-[a-z]+)+-\d", "AWS region, such as us-east-1")]
ZoneId = Annotated[
    str,
    _pattern(
        r"[a-z]{2,5}\d-az[1-8]",
        "availability zone id, such as use1-az4 (ids, not letters: us-east-1a is another zone in every account)",
    ),
]
Cidr = Annotated[str, AfterValidator(_network)]
AccountId = Annotated[str, _pattern(r"\d{12}", "AWS account id: 12 digits, in quotes")]
PrincipalArn = Annotated[
    str,
    _pattern(
        r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+", "IAM role or user ARN, such as arn:aws:iam::111122223333:role/ops"
    ),
]
ReservationId = Annotated[str, _pattern(r"cr-[0-9a-f]{8,17}", "capacity reservation id, such as cr-0123456789abcdef0")]
ResourceGroupArn = Annotated[
    str, _pattern(r"arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:\d{12}:group/.+", "resource group ARN")
]
SecretArn = Annotated[
    str, _pattern(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:.+", "Secrets Manager ARN")
]
Tags = Annotated[dict[str, Annotated[str, StringConstraints(max_length=256)]], "AWS tags"]


def zone_number(zone_id: str) -> int:
    """The number of a zone in its region, counted from 1: 4 for ``use1-az4``. Stable, unlike the zone's letter."""
    return int(zone_id[-1])


def partition(region: str) -> str:
    """The ARN partition of a region."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def zone_prefix(region: str) -> str:
    """How zone ids of a region begin: ``use1`` for us-east-1, ``apne2`` for ap-northeast-2."""
    area, *words, number = region.split("-")
    short = "".join(_DIRECTIONS.get(word, word[0]) for word in words)
    return f"{area}{short}{number}"
