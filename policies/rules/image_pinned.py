"""A floating tag runs whatever the node has cached, or whatever was pushed last."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.model import Outcome, Parameters, Resource, ResourceSet, Rule, advice, violation
from policies.workloads.images import Image, image
from policies.workloads.pods import POD_OWNERS, Container, pod_templates
from policies.workloads.servers import is_vllm_container, servers_in
from policies.workloads.shell import UNRESOLVED

FLOATING = {"latest", "nightly", "main", "master", "dev", "develop", "edge", "stable", "release", "head", "canary"}
VERSION_OR_COMMIT = re.compile(r"\d+\.\d+|(^|[-_.])[0-9a-f]{7,64}$")

# GPU pods of these kinds are tools more often than servers.
ONE_OFF = ("Pod", "Job.batch", "CronJob.batch", "DaemonSet.apps")


def _is_floating(reference: Image) -> bool:
    if reference.digest:
        return False
    if not reference.tag:
        return True
    words = set(re.split(r"[-_.]", reference.tag.lower()))
    return bool(words & FLOATING) and not VERSION_OR_COMMIT.search(reference.tag)


def check(resource: Resource, _resources: ResourceSet, _parameters: Parameters) -> Iterator[Outcome]:
    """Containers of an engine name a version or a digest; others beside them are advised to."""
    for pod in pod_templates(resource):
        is_engine = bool(servers_in(pod)) or any(container.gpus for container in pod.containers)
        if not is_engine:
            continue
        for container in (*pod.containers, *pod.init_containers):
            written = container.image
            if not written or UNRESOLVED in written or "$" in written or not _is_floating(image(written)):
                continue
            tag = image(written).tag or "no tag, which means latest"
            message = f"image {written} of container {container.name} floats ({tag}): {_remedy(container)}."
            place = (*container.path, "image")
            serves = resource.group_kind not in ONE_OFF and container.gpus > 0
            runs_engine = serves or is_vllm_container(container)
            yield violation(message, *place) if runs_engine else advice(message, *place)


def _remedy(container: Container) -> str:
    name = image(container.image).repository
    return f"what runs depends on the node's cache. Write {name}:<version>@sha256:<digest>"


RULE = Rule(
    name="image-pinned",
    title="Images are pinned by version or digest",
    source="vllm #21979; LLMKube #362, #1030; dynamo #11259",
    fix="Name a version, better with its digest: vllm/vllm-openai:v0.33.0@sha256:….",
    applies_to=POD_OWNERS,
    check=check,
)
