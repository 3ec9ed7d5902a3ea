"""Weights that are downloaded into the container's own layer fill the node's disk, and the pod is evicted."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameter, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.workloads.loading_time import catalog_model, weights_gb
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import engines
from policies.workloads.volumes import download_cache

_DISK = "ephemeral-storage"


def check(resource: Resource, _resources: ResourceSet, parameters: Parameters) -> Iterator[Outcome]:
    """A server that downloads its model does so into a volume, or requests the disk space for it."""
    for server in engines(resource):
        cache = download_cache(server)
        if cache is None or cache.mount is not None:
            continue
        row = catalog_model(server)
        size_gb = weights_gb(row) if row else None
        container = server.container
        requested = container.quantity(_DISK, "requests") or container.quantity(_DISK, "limits")
        size = f" ({size_gb:.0f} GB)" if size_gb else ""
        remedy = "Mount a volume there, or point HF_HOME to one"
        message = f"{server.model}{size} is downloaded to {cache.folder} on the container's own disk"
        place = (*container.path, "volumeMounts")
        if requested is None:
            large = size_gb is not None and size_gb >= parameters["large_gb"]
            message = f"{message}, and container {container.name} requests no {_DISK}. {remedy}."
            yield violation(message, *place) if large else advice(message, *place)
        elif size_gb and requested < size_gb * 1e9:
            yield advice(f"{message}, which is more than the {requested / 1e9:.0f} GB of {_DISK}. {remedy}.", *place)


RULE = Rule(
    name="model-cache-on-volume",
    title="Downloaded weights go to a volume",
    source="GoogleCloudPlatform/kubernetes-engine-samples #1581",
    fix="Mount a volume at the cache folder, or set HF_HOME to a mounted one.",
    applies_to=POD_OWNERS,
    check=check,
    parameters={
        # The root volume of an EKS node is 20 GiB by default, 80 to 500 in GPU groups: below this it may still fit.
        "large_gb": Parameter(50, "number", "GB of weights from which a download to the node's disk is a violation"),
    },
)
