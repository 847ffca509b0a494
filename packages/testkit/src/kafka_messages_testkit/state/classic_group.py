"""State machine of a classic group, as ``ClassicGroup`` and ``GroupMetadataManager`` of Kafka's group coordinator.

The first rebalance of an empty group is not delayed (``group.initial.rebalance.delay.ms=0``).
"""

from __future__ import annotations

import asyncio
from asyncio import Future, TimerHandle
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from kafka_messages import ConsumerProtocolAssignment, JoinGroupRequest, JoinGroupResponse, SyncGroupResponse
from kafka_messages.enums import GroupState, GroupType
from kafka_messages.errors import DecodeError
from kafka_messages.internal_topics import read_versioned
from kafka_messages.protocol import ErrorCode

from .errors import RequestError
from .groups import Commit, GroupMember, java_order

NEW_MEMBER_SECONDS = 300.0
"""Time that a new member waits for its first generation (``group.new.member.join.timeout``)."""


@dataclass(slots=True, eq=False)
class ClassicMember:
    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    protocols: list[tuple[str, bytes]] = field(default_factory=list)
    """Names and metadata, the preferred first."""
    session_seconds: float = 0.0
    rebalance_seconds: float = 0.0
    assignment: bytes = b""
    is_new: bool = True
    """True until it was in a generation."""
    joining: Future[JoinGroupResponse] | None = None
    """Response that the member waits for; kept when its client disconnects."""
    syncing: Future[SyncGroupResponse] | None = None
    expiry: TimerHandle | None = None

    def metadata(self, protocol: str | None) -> bytes:
        return dict(self.protocols).get(protocol or "", b"")

    def update(self, request: JoinGroupRequest) -> Future[JoinGroupResponse]:
        """Take over what a JoinGroup request says; return the future of its response."""
        self.protocols = names_and_metadata(request)
        self.session_seconds = request.session_timeout_ms / 1000
        timeout = request.rebalance_timeout_ms
        self.rebalance_seconds = (request.session_timeout_ms if timeout < 0 else timeout) / 1000
        self.joining = asyncio.get_running_loop().create_future()
        return self.joining

    def end_join(self, response: JoinGroupResponse) -> None:
        if self.joining is not None and not self.joining.done():
            self.joining.set_result(response)
        self.joining = None

    def end_sync(self, response: SyncGroupResponse) -> bool:
        """Answer a waiting SyncGroup request; return whether there was one."""
        future, self.syncing = self.syncing, None
        if future is not None and not future.done():
            future.set_result(response)
        return future is not None

    def partitions(self) -> list[tuple[str, int]]:
        """Return the assigned partitions of a member that uses the consumer protocol."""
        try:
            assigned, _ = read_versioned(ConsumerProtocolAssignment, self.assignment, allow_newer=True)
        except DecodeError:  # the bytes belong to the clients
            return []
        return sorted((each.topic, index) for each in assigned.assigned_partitions for index in each.partitions)


class ClassicGroup:
    """A group of the classic protocol, or offsets without members."""

    type = GroupType.CLASSIC

    def __init__(self, id: str) -> None:
        self.id = id
        self.state = self._previous = GroupState.EMPTY
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader: str | None = None
        self.by_id: dict[str, ClassicMember] = {}
        self.static: dict[str, str] = {}
        """Member ids by instance id (KIP-345)."""
        self.pending: dict[str, TimerHandle] = {}
        """Expiry of ids that were given with MEMBER_ID_REQUIRED (KIP-394)."""
        self._unsynced: set[str] = set()
        self._join_timer: TimerHandle | None = None
        self._sync_timer: TimerHandle | None = None

    @property
    def members(self) -> list[GroupMember]:
        is_known = self.protocol_type == "consumer"
        return [
            GroupMember(
                each.id, each.instance_id, each.client_id, each.client_host, each.partitions() if is_known else []
            )
            for each in self.by_id.values()
        ]

    @property
    def is_stable(self) -> bool:
        return self.state in (GroupState.STABLE, GroupState.EMPTY) and not self._unsynced and not self.pending

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        """Raise RequestError for an unknown or fenced member (``ClassicGroup.validateMember``)."""
        if instance_id is not None and self.static.get(instance_id, member_id) != member_id:
            raise RequestError(ErrorCode.FENCED_INSTANCE_ID)
        if member_id not in self.by_id or (instance_id is not None and instance_id not in self.static):
            raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID)

    def check_commit(self, commit: Commit) -> None:
        member_id, generation, instance_id, is_transactional, _, _ = commit
        if generation < 0 and self.state == GroupState.EMPTY:
            return
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            if generation != self.generation:
                raise RequestError(ErrorCode.ILLEGAL_GENERATION)
        elif not is_transactional:
            raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not is_transactional and self.state == GroupState.COMPLETING_REBALANCE:
            raise RequestError(ErrorCode.REBALANCE_IN_PROGRESS)
        if not is_transactional:
            self.extend(self.by_id[member_id])  # a commit counts as a heartbeat

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Allow all, as the classic protocol sends no member with OffsetFetch."""

    def supports(self, protocol_type: str, protocols: list[tuple[str, bytes]]) -> bool:
        """Return whether a member with these protocols may join."""
        if not self.by_id:
            return bool(protocol_type and protocols)
        return protocol_type == self.protocol_type and any(name in self._common() for name, _ in protocols)

    def _common(self) -> set[str]:
        counts = Counter(name for member in self.by_id.values() for name, _ in member.protocols)
        return {name for name, count in counts.items() if count == len(self.by_id)}

    def add_pending(self, member_id: str, seconds: float) -> None:
        """Wait for a client to join again with the member id that it got."""
        self.pending[member_id] = self._later(seconds, self.remove, member_id)

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        """Add a member whose JoinGroup request waits, and rebalance."""
        self._drop_pending(member.id)
        if not self.by_id:
            self.protocol_type = protocol_type
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        self.by_id[member.id] = member
        self.leader = self.leader or member.id
        self.extend(member, NEW_MEMBER_SECONDS)
        self.rebalance_or_complete()

    def replace(self, old: ClassicMember, new_id: str) -> None:
        """Give a static member a new id, and fence the old one."""
        del self.by_id[old.id]
        code = ErrorCode.FENCED_INSTANCE_ID
        old.end_join(JoinGroupResponse(error_code=code, member_id=old.id, protocol_name=None))
        old.end_sync(SyncGroupResponse(error_code=code))
        self._cancel(old.expiry)
        self.leader = new_id if self.leader == old.id else self.leader
        self._unsynced.discard(old.id)
        old.id, old.is_new, self.by_id[new_id] = new_id, False, old
        if old.instance_id is not None:
            self.static[old.instance_id] = new_id
        self.extend(old)

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending id, and rebalance, as after a session timeout."""
        is_pending = member_id in self.pending
        self.drop(member_id)
        if self.state == GroupState.PREPARING_REBALANCE:
            if self._is_joined():
                self._complete_join()
        elif not is_pending:
            self.rebalance_or_complete()

    def drop(self, member_id: str) -> None:
        """Remove a member or a pending id, without a rebalance."""
        self._drop_pending(member_id)
        member = self.by_id.pop(member_id, None)
        if member is None:
            return
        member.end_join(JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID, protocol_name=None))
        member.end_sync(SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        self._cancel(member.expiry)
        self._unsynced.discard(member_id)
        if member.instance_id is not None:
            del self.static[member.instance_id]
        if self.leader == member_id:
            self.leader = next(iter(self.by_id), None)

    def _drop_pending(self, member_id: str) -> None:
        self._cancel(self.pending.pop(member_id, None))

    def expire(self, member_id: str) -> None:
        if member_id not in self.by_id:
            raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID)
        self.remove(member_id)

    def extend(self, member: ClassicMember, seconds: float | None = None) -> None:
        """Start the session timeout of a member again."""
        self._cancel(member.expiry)
        member.expiry = self._later(member.session_seconds if seconds is None else seconds, self._time_out, member)

    def _time_out(self, member: ClassicMember) -> None:
        is_waiting = member.joining is not None or member.syncing is not None
        if member.is_new or not is_waiting:
            self.remove(member.id)

    def rebalance(self) -> None:
        if self.by_id and self.state != GroupState.PREPARING_REBALANCE:
            self.prepare()

    def rebalance_or_complete(self) -> None:
        """Start a rebalance, or end its first phase if all members have joined."""
        if self.state != GroupState.PREPARING_REBALANCE:
            self.prepare()
        elif self._previous != GroupState.EMPTY and self._is_joined():
            self._complete_join()

    def prepare(self) -> None:
        """Start a rebalance: all members must join again."""
        if self.state == GroupState.COMPLETING_REBALANCE:
            self._propagate({}, ErrorCode.REBALANCE_IN_PROGRESS)
        self._unsynced.clear()
        self._cancel(self._sync_timer)
        self._become(GroupState.PREPARING_REBALANCE)
        if self._previous == GroupState.EMPTY:
            self._await_members(0)
        elif self._is_joined():
            self._complete_join()
        else:
            self._await_members(self._rebalance_seconds)

    def _await_members(self, seconds: float) -> None:
        self._cancel(self._join_timer)
        self._join_timer = self._later(seconds, self._complete_join)

    def _is_joined(self) -> bool:
        return not self.pending and all(member.joining is not None for member in self.by_id.values())

    @property
    def _rebalance_seconds(self) -> float:
        return max((member.rebalance_seconds for member in self.by_id.values()), default=0)

    def _complete_join(self) -> None:
        """Begin the next generation with the members that have joined, and with all static members."""
        self._cancel(self._join_timer)
        for member in [each for each in self.by_id.values() if each.joining is None and each.instance_id is None]:
            self.drop(member.id)
        joined = [member.id for member in self.by_id.values() if member.joining is not None]
        if self.by_id and not joined:
            self._await_members(self._rebalance_seconds)
            return
        self.generation += 1
        if not joined:
            self.protocol = self.leader = None
            self._become(GroupState.EMPTY)
            return
        self.leader = self.leader if self.leader in joined else joined[0]
        self.protocol = self.voted()
        self._become(GroupState.COMPLETING_REBALANCE)
        self._unsynced = set(self.by_id)
        for member in self.by_id.values():
            member.end_join(self.joined(member.id))
            self.extend(member)
            member.is_new = False
        self._sync_timer = self._later(self._rebalance_seconds, self._expire_unsynced)

    def voted(self) -> str:
        """Return the protocol with the most votes of those that all members support (``ClassicGroup.selectProtocol``)."""
        common, members = self._common(), [self.by_id[id] for id in java_order(self.by_id)]
        votes = Counter(next(name for name, _ in each.protocols if name in common) for each in members)
        return max(java_order(votes), key=votes.__getitem__)  # of several, the first one in Kafka's map

    def joined(self, member_id: str) -> JoinGroupResponse:
        """Return the response to a member of the current generation; the leader gets all members."""
        kind = JoinGroupResponse.JoinGroupResponseMember
        known = self.by_id.values() if member_id == self.leader else ()
        members = [
            kind(member_id=each.id, group_instance_id=each.instance_id, metadata=each.metadata(self.protocol))
            for each in known
        ]
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=self.leader or "",
            member_id=member_id,
            members=members,
        )

    def synced(self, member: ClassicMember) -> SyncGroupResponse:
        """Return the response with the assignment of a member."""
        return SyncGroupResponse(
            protocol_type=self.protocol_type, protocol_name=self.protocol, assignment=member.assignment
        )

    def mark_synced(self, member_id: str) -> None:
        """Note that a member has sent its SyncGroup request."""
        self._unsynced.discard(member_id)
        if not self._unsynced:
            self._cancel(self._sync_timer)

    def assign(self, assignments: dict[str, bytes]) -> None:
        """Take over the leader's assignment: the rebalance is complete."""
        self._propagate(assignments, ErrorCode.NONE)
        self._become(GroupState.STABLE)

    def _propagate(self, assignments: dict[str, bytes], code: ErrorCode) -> None:
        for member in self.by_id.values():
            member.assignment = assignments.get(member.id, b"")
            response = SyncGroupResponse(error_code=code) if code else self.synced(member)
            if member.end_sync(response):
                self.extend(member)

    def _expire_unsynced(self) -> None:
        for member_id in sorted(self._unsynced):
            self.drop(member_id)
        self.prepare()

    def unload(self) -> None:
        code = ErrorCode.NOT_COORDINATOR
        for member in self.by_id.values():
            member.end_join(JoinGroupResponse(error_code=code, member_id=member.id, protocol_name=None))
            member.end_sync(SyncGroupResponse(error_code=code))

    def _become(self, state: GroupState) -> None:
        self._previous, self.state = self.state, state

    @staticmethod
    def _later(seconds: float, function: Callable[..., None], *arguments: object) -> TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, function, *arguments)

    @staticmethod
    def _cancel(timer: TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()


def names_and_metadata(request: JoinGroupRequest) -> list[tuple[str, bytes]]:
    """Return the protocols of a request, without repeated names."""
    return list({each.name: bytes(each.metadata) for each in request.protocols}.items())
