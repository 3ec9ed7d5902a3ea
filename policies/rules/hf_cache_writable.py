"""The hub client writes locks and files into its cache: on a read-only volume the load fails with EROFS."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, violation
from policies.unknowns import at, text
from policies.workloads.pods import POD_OWNERS
from policies.workloads.servers import vllm_servers
from policies.workloads.volumes import download_cache, writes_refused


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """A server that names its model by hub id, and isn't offline, can write its cache folder."""
    for server in vllm_servers(resource):
        cache = download_cache(server)
        if cache is None:
            continue
        read_only_root = text(at(server.container.body, "securityContext", "readOnlyRootFilesystem")) == "true"
        if writes_refused(cache, server) or (cache.mount is None and read_only_root):
            yield violation(
                f"{server.model} is downloaded to {cache.folder}, which container {server.container.name} can't write. "
                "Mount the cache writable, or set HF_HUB_OFFLINE=1 with the model in place.",
                *server.container.path,
                "volumeMounts",
            )


RULE = Rule(
    name="hf-cache-writable",
    title="The model cache can be written",
    source="llm-d-modelservice #243",
    fix="Mount the cache without readOnly, or set HF_HUB_OFFLINE=1 and name the model by its path.",
    applies_to=POD_OWNERS,
    check=check,
)
