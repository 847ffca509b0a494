"""Store of committed offsets, as ``OffsetMetadataManager`` of Kafka's group coordinator."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import NamedTuple, TypeAlias

_Place: TypeAlias = tuple[str, str, int]
"""Group, topic and partition."""


class Committed(NamedTuple):
    """A committed offset."""

    offset: int
    leader_epoch: int = -1
    """Leader epoch of the last consumed record (KIP-320); -1 if unknown."""
    metadata: str = ""
    timestamp: int = -1
    """Time of the commit, in milliseconds since 1970."""


class Offsets:
    """Offsets that groups have committed, and those of open transactions."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._groups: dict[str, dict[tuple[str, int], tuple[int, Committed]]] = {}
        """Offsets with the number of their commit."""
        self._pending: dict[int, dict[_Place, tuple[int, Committed]]] = {}
        """Offsets of open transactions, by producer id."""

    def commit(self, group: str, topic: str, partition: int, committed: Committed) -> None:
        self._groups.setdefault(group, {})[topic, partition] = next(self._numbers), committed

    def find(self, group: str, topic: str, partition: int) -> Committed | None:
        return self.of_group(group).get((topic, partition))

    def of_group(self, group: str) -> Mapping[tuple[str, int], Committed]:
        return {place: committed for place, (_, committed) in self._groups.get(group, {}).items()}

    def add_pending(self, group: str, producer_id: int, topic: str, partition: int, committed: Committed) -> None:
        """Keep an offset until the transaction of a producer ends."""
        self._pending.setdefault(producer_id, {})[group, topic, partition] = next(self._numbers), committed

    def end_pending(self, producer_id: int, is_commit: bool) -> None:
        """Commit or drop the offsets of a transaction. A later commit of the same partition stays."""
        for (group, topic, partition), (number, committed) in self._pending.pop(producer_id, {}).items():
            places = self._groups.setdefault(group, {})
            if is_commit and number > places.get((topic, partition), (0, None))[0]:
                places[topic, partition] = number, committed

    def is_pending(self, group: str, topic: str, partition: int) -> bool:
        return any((group, topic, partition) in places for places in self._pending.values())

    def forget_topic(self, name: str) -> None:
        """Drop all offsets of a deleted topic."""
        for committed in self._groups.values():
            for place in [each for each in committed if each[0] == name]:
                del committed[place]
        for pending in self._pending.values():
            for group_place in [each for each in pending if each[1] == name]:
                del pending[group_place]
