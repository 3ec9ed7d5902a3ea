"""What the AWS sections of a stack file mean for each other: zones, reservations, sizes, and which cluster they suit.

Pure: settings in, problems out.
"""

from __future__ import annotations

from collections.abc import Iterator

from components.aws_arguments import zone_prefix
from components.capacity import CapacityBlocks, CapacityReservation, OnDemand, zones
from components.node_group_args import NodeGroupArgs
from infra.settings import Problem, StackSettings


def check_aws(settings: StackSettings) -> Iterator[Problem]:
    """Every contradiction between the AWS sections."""
    if settings.cluster.eks is None:
        yield from _existing_cluster(settings)
        return
    missing = [*_missing_sections(settings)]
    yield from missing
    if not missing:
        yield from _groups(settings)
        yield from _zones(settings)
        yield from _cache(settings)
        yield from _secret_names(settings)


def gpu_zones(settings: StackSettings) -> tuple[str, ...]:
    """The zones of all GPU groups, each once, in the order of the file."""
    found = [zone for group in settings.node_groups if group.capacity for zone in zones(group.capacity)]
    return tuple(dict.fromkeys(found))


def lustre_zone(settings: StackSettings) -> str:
    """The zone of the model cache's file system (checked before: there is exactly one answer)."""
    return settings.model_cache.lustre.zone or gpu_zones(settings)[0]


def _existing_cluster(settings: StackSettings) -> Iterator[Problem]:
    why = "belongs to an EKS cluster that the program makes; remove it, or use cluster.eks"
    for section in ("aws", "network", "system_nodes"):
        if getattr(settings, section) is not None:
            yield Problem(section, why)
    if settings.external_secrets:
        yield Problem("external_secrets", why)
    for index, group in enumerate(settings.node_groups):
        if group.capacity is not None:
            yield Problem(f"node_groups[{index}].capacity", why)
    if settings.model_cache.kind in ("fsx", "efs"):
        message = f"{settings.model_cache.kind} needs the program's own network; name a storage_class, or node_local"
        yield Problem("model_cache", message)


def _missing_sections(settings: StackSettings) -> Iterator[Problem]:
    for section in ("aws", "network"):
        if getattr(settings, section) is None:
            yield Problem(section, "is missing; cluster.eks needs it")
    for index, group in enumerate(settings.node_groups):
        path = f"node_groups[{index}]"
        if group.capacity is None:
            yield Problem(f"{path}.capacity", "is missing; allowed kinds: on_demand, odcr, capacity_block")
        if group.nodes.gpus == 0:
            message = f"a {group.instance_type} has no GPU; nodes without GPUs are the section system_nodes"
            yield Problem(f"{path}.instance_type", message)


def _groups(settings: StackSettings) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for index, group in enumerate(settings.node_groups):
        path = f"node_groups[{index}]"
        yield from _size(group, path)
        for place, reservation in _reservations(group, path):
            if reservation in seen:
                yield Problem(place, f"{reservation} is already the capacity of {seen[reservation]}")
            seen.setdefault(reservation, place)


def _size(group: NodeGroupArgs, path: str) -> Iterator[Problem]:
    capacity = group.capacity
    if isinstance(capacity, CapacityReservation) and group.count > capacity.instance_count:
        message = f"{group.count} nodes, but {capacity.instance_count} instances are reserved; allowed: up to that"
        yield Problem(f"{path}.count", message)
    if isinstance(capacity, CapacityBlocks):
        for number, block in enumerate(capacity.blocks):
            if group.wanted_count > block.instance_count:
                message = f"a block of {block.instance_count} instances, but the group wants {group.wanted_count} nodes"
                yield Problem(f"{path}.capacity.blocks[{number}].instance_count", message)
        if group.scaled_by != "nobody":
            message = (
                "an autoscaler knows no block's start and end; leave it out: a block's group has its sizes by time"
            )
            yield Problem(f"{path}.scaled_by", message)


def _reservations(group: NodeGroupArgs, path: str) -> Iterator[tuple[str, str]]:
    capacity = group.capacity
    if isinstance(capacity, CapacityReservation):
        target = capacity.reservation_id or capacity.resource_group_arn
        if target:
            yield f"{path}.capacity", target
    if isinstance(capacity, CapacityBlocks):
        for number, block in enumerate(capacity.blocks):
            yield f"{path}.capacity.blocks[{number}].reservation_id", block.reservation_id


def _zones(settings: StackSettings) -> Iterator[Problem]:
    assert settings.aws is not None
    assert settings.network is not None
    region, network = settings.aws.region, settings.network
    prefix = f"{zone_prefix(region)}-az"
    placed = [(f"network.zones[{index}]", zone) for index, zone in enumerate(network.zones)]
    placed += [place for index, group in enumerate(settings.node_groups) for place in _group_zones(group, index)]
    if settings.model_cache.lustre.zone:
        placed.append(("model_cache.fsx.zone", settings.model_cache.lustre.zone))
    for path, zone in placed:
        if not zone.startswith(prefix):
            yield Problem(path, f"{zone} is not in {region}, whose zones are {prefix}1 and so on")
        elif network.nat_gateways == "one-per-zone" and zone not in network.zones:
            message = f"no NAT gateway in {zone}: with one-per-zone, network.zones must name it"
            yield Problem(path, f"{message}; it names {', '.join(network.zones)}")


def _group_zones(group: NodeGroupArgs, index: int) -> Iterator[tuple[str, str]]:
    path = f"node_groups[{index}].capacity"
    if isinstance(group.capacity, OnDemand | CapacityReservation):
        yield f"{path}.zone", group.capacity.zone
    if isinstance(group.capacity, CapacityBlocks):
        for number, block in enumerate(group.capacity.blocks):
            yield f"{path}.blocks[{number}].zone", block.zone


def _cache(settings: StackSettings) -> Iterator[Problem]:
    assert settings.network is not None
    gpus = gpu_zones(settings)
    kind, zone = settings.model_cache.kind, settings.model_cache.lustre.zone
    if kind == "fsx" and zone is None and len(gpus) > 1:
        message = f"the GPU groups are in {', '.join(gpus)}, and FSx for Lustre is in one zone: say which"
        yield Problem("model_cache.fsx.zone", message)
    if kind == "fsx" and zone is not None and zone not in gpus:
        message = f"{zone}, but the GPUs are in {', '.join(gpus)}: weights would cross zones, slower and billed"
        yield Problem("model_cache.fsx.zone", message)
    if kind == "efs":
        for gpu_zone in gpus:
            if gpu_zone not in settings.network.zones:
                message = f"EFS has no mount target in {gpu_zone}, where GPUs are: name the zone in network.zones"
                yield Problem("model_cache.efs", message)


def _secret_names(settings: StackSettings) -> Iterator[Problem]:
    names = [secret.name for secret in settings.external_secrets]
    for index, name in enumerate(names):
        if names.index(name) != index:
            yield Problem(f"external_secrets[{index}].name", f"{name!r} is already the name of another Secret")
