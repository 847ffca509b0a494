"""Server-side assignors of consumer groups: uniform and range (KIP-848)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TypeAlias
from uuid import UUID

Partition: TypeAlias = tuple[UUID, int]
"""Topic id and number."""
Targets: TypeAlias = dict[str, set[Partition]]
"""Partitions by member id."""
Assignor: TypeAlias = Callable[[Mapping[str, Set[UUID]], Mapping[UUID, int], Mapping[str, Set[Partition]]], Targets]
"""Assigns the partitions of topics, given by id with their number of partitions, to members, given by id with the ids
of their topics. The last argument is the assignment before."""


def uniform(
    members: Mapping[str, Set[UUID]], topics: Mapping[UUID, int], before: Mapping[str, Set[Partition]]
) -> Targets:
    """Balance the number of partitions per member, and move as few as possible (``UniformAssignor``)."""
    previous = {partition: member for member, owned in before.items() for partition in owned}
    owned: dict[str, list[Partition]] = {member: [] for member in members}

    def load(member: str) -> int:
        return len(owned[member])

    def least_loaded(topic: UUID) -> str | None:
        return min((member for member in members if topic in members[member]), key=load, default=None)

    unowned: list[Partition] = []
    for partition in ((topic, index) for topic, count in topics.items() for index in range(count)):
        owner = previous.get(partition)
        is_kept = owner is not None and owner in members and partition[0] in members[owner]
        (owned[owner] if is_kept and owner is not None else unowned).append(partition)
    for partition in unowned:
        member = least_loaded(partition[0])
        if member is not None:
            owned[member].append(partition)

    def next_move() -> tuple[Partition, str, str] | None:
        for owner in sorted(members, key=load, reverse=True):
            for partition in reversed(owned[owner]):
                member = least_loaded(partition[0])
                if member is not None and load(member) < load(owner) - 1:
                    return partition, owner, member
        return None

    while move := next_move():  # ends, as each move brings two loads closer together
        partition, owner, member = move
        owned[owner].remove(partition)
        owned[member].append(partition)
    return {member: set(partitions) for member, partitions in owned.items()}


def range_(
    members: Mapping[str, Set[UUID]], topics: Mapping[UUID, int], before: Mapping[str, Set[Partition]]
) -> Targets:
    """Give each member a range of each of its topics (``RangeAssignor``)."""
    targets: Targets = {member: set() for member in members}
    for topic, count in topics.items():
        subscribers = [member for member in members if topic in members[member]]
        start = 0
        for number, member in enumerate(subscribers):
            end = start + count // len(subscribers) + (number < count % len(subscribers))
            targets[member].update((topic, index) for index in range(start, end))
            start = end
    return targets


ASSIGNORS: dict[str, Assignor] = {"uniform": uniform, "range": range_}
"""By name; the first is the default."""
