"""What groups of all types have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member of a group."""

    member_id: str
    instance_id: str | None
    """Id of a static member (KIP-345); None for a dynamic one."""
    client_id: str
    client_host: str
    """Address of the client, such as ``/127.0.0.1``."""
    assignment: list[tuple[str, int]] = field(default_factory=list)
    """Topic and number of each assigned partition, sorted; empty for groups of other protocols than ``consumer``."""


class Commit(NamedTuple):
    """A commit of offsets by a member of a group."""

    member_id: str
    generation: int
    """Generation, or the member epoch in a consumer group; -1 for none."""
    instance_id: str | None
    is_transactional: bool
    version: int
    """Version of the request."""
    places: Collection[tuple[str, int]]
    """Topics and partitions."""


class AnyGroup(Protocol):
    """A classic group, or a consumer group of KIP-848."""

    @property
    def id(self) -> str: ...

    @property
    def type(self) -> str:
        """``classic`` or ``consumer``, as in ListGroups."""

    @property
    def state(self) -> str:
        """Kafka's name of the state, such as ``Stable`` or ``PreparingRebalance``."""

    @property
    def protocol_type(self) -> str:
        """``consumer``, or what the members of a classic group use; empty for a group that never had members."""

    @property
    def members(self) -> list[GroupMember]: ...

    @property
    def is_stable(self) -> bool:
        """True if all members have their assignment."""

    def check_commit(self, commit: Commit) -> None:
        """Raise RequestError if a member may not commit offsets (``Group.validateOffsetCommit``)."""

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Raise RequestError if a member may not fetch committed offsets (``Group.validateOffsetFetch``)."""

    def rebalance(self) -> None:
        """Start a rebalance."""

    def expire(self, member_id: str) -> None:
        """Remove a member, as after its session timeout. Raises RequestError for an unknown one."""

    def unload(self) -> None:
        """Answer waiting requests with NOT_COORDINATOR, as another broker becomes the coordinator."""


class Groups(dict[str, AnyGroup]):
    """All groups by id."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.random = random

    def new_id(self) -> str:
        """Return a random UUID, for a member id."""
        return str(UUID(int=self.random.getrandbits(128), version=4))


def java_hash(text: str) -> int:
    """Return the absolute value of Java's ``String.hashCode``."""
    value = 0
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"):
        value = (31 * value + unit) & 0xFFFFFFFF
    value = value - (1 << 32) if value >> 31 else value
    return value & 0x7FFFFFFF


def java_order(keys: Iterable[str]) -> list[str]:
    """Return the distinct keys in the order of a Java ``HashMap`` into which they were put one after the other.

    The order of more than eight keys in one bucket, for which Java rebuilds the bucket or the table, is another one.
    """
    found, buckets = dict.fromkeys(keys), 16
    while len(found) > buckets * 3 // 4:
        buckets *= 2
    return sorted(found, key=lambda key: ((value := java_hash(key)) ^ value >> 16) % buckets)
