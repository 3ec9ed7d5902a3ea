"""Which Kubernetes version to ask EKS for: what the catalog pins, but never below what the cluster already runs.

With upgrade policy STANDARD, EKS upgrades a control plane by itself at the end of standard support. Asking for the
older version after that would be a downgrade, which EKS refuses, and every later run would fail. ``ignore_changes``
would help there, but would swallow a deliberate upgrade too. So the program asks AWS first.
"""

from __future__ import annotations

import pulumi
import pulumi_aws as aws


def later(one: str, other: str) -> str:
    """The later of two minor versions such as ``1.36``."""
    return max(one, other, key=lambda version: tuple(int(part) for part in version.split(".")))


def cluster_version(pinned: str, cluster_name: str, provider: aws.Provider) -> pulumi.Output[str]:
    """The version to run; known in a preview too, since it depends on no resource of the program."""
    options = pulumi.InvokeOptions(provider=provider)

    def not_below(names: list[str]) -> pulumi.Output[str]:
        if cluster_name not in names:
            return pulumi.Output.from_input(pinned)
        found = aws.eks.get_cluster_output(name=cluster_name, opts=options)
        return found.version.apply(lambda running: later(pinned, running))

    return aws.eks.get_clusters_output(opts=options).names.apply(not_below)
