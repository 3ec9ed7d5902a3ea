"""The rules of our security groups, as plain dicts that ``aws.ec2.SecurityGroup`` takes.

In the group itself, not in resources of their own: so a preview already shows, and the policies already judge, that
the EFA group allows itself in and out.
"""

from __future__ import annotations

from typing import Any, Final

import pulumi

ALL_PROTOCOLS: Final = "-1"
LUSTRE_PORTS: Final = ((988, 988), (1018, 1023))
"""First and last TCP port of each range that Lustre clients and servers open to each other (FSx Lustre user guide)."""
NFS_PORT: Final = 2049
HTTPS_PORT: Final = 443


def all_to_itself(what: str) -> list[dict[str, Any]]:
    """One rule: every protocol, between members of the group. EFA needs it both ways; a CIDR doesn't count there."""
    return [{"protocol": ALL_PROTOCOLS, "from_port": 0, "to_port": 0, "self": True, "description": what}]


def tcp_from_networks(port: int, cidrs: list[str], what: str) -> list[dict[str, Any]]:
    """One rule: a TCP port, from networks."""
    return [{"protocol": "tcp", "from_port": port, "to_port": port, "cidr_blocks": cidrs, "description": what}]


def tcp_with_group(
    ports: tuple[tuple[int, int], ...], group_id: pulumi.Input[str], what: str, *, itself: bool
) -> list[dict[str, Any]]:
    """A rule a range of TCP ports, from or to the members of another group, and of the group itself."""
    return [
        {
            "protocol": "tcp",
            "from_port": first,
            "to_port": last,
            "security_groups": [group_id],
            "self": itself,
            "description": what,
        }
        for first, last in ports
    ]
