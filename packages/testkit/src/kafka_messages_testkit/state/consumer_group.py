"""Consumer groups of KIP-848: members, epochs, and target assignments."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from kafka_messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from kafka_messages.enums import GroupState, GroupType
from kafka_messages.protocol import ErrorCode

from .consumer_assignor import ASSIGNORS, Partition, Targets
from .consumer_member import LEFT, ConsumerMember, MemberState
from .errors import RequestError
from .groups import Commit, GroupMember, Groups
from .topics import Topic, Topics

HEARTBEAT_SECONDS = 0.1
"""Heartbeat interval of all members. Kafka's default is 5 seconds."""
SESSION_SECONDS = 45.0
"""Session timeout of all members; Kafka's default."""
_OLDEST_COMMIT = 9  # first version of OffsetCommit with a member epoch


class ConsumerGroup:
    """A consumer group (``ConsumerGroup`` and ``GroupMetadataManager`` of Kafka)."""

    type, protocol_type = GroupType.CONSUMER, "consumer"

    def __init__(self, id: str, groups: Groups, topics: Topics) -> None:
        self.id = id
        self.epoch = self.target_epoch = 1
        self.by_id: dict[str, ConsumerMember] = {}
        self._groups, self._topics = groups, topics
        self._targets: Targets = {}
        self._metadata: dict[UUID, int] = {}  # number of partitions of the subscribed topics

    @property
    def state(self) -> str:
        if not self.by_id:
            return GroupState.EMPTY
        if self.epoch > self.target_epoch:
            return GroupState.ASSIGNING
        is_reconciled = all(member.is_reconciled(self.target_epoch) for member in self.by_id.values())
        return GroupState.STABLE if is_reconciled else GroupState.RECONCILING

    @property
    def is_stable(self) -> bool:
        """True if all members have their assignment, with the latest topics."""
        return self.state in (GroupState.STABLE, GroupState.EMPTY) and self._subscribed() == self._metadata

    @property
    def members(self) -> list[GroupMember]:
        return [
            GroupMember(each.id, each.instance_id, each.client_id, each.client_host, self._named(each.assigned))
            for each in self.by_id.values()
        ]

    def _named(self, partitions: Collection[Partition]) -> list[tuple[str, int]]:
        names = self._topics.names
        return sorted((names[topic], index) for topic, index in partitions if topic in names)

    def check_commit(self, commit: Commit) -> None:
        """Raise RequestError if a member may not commit offsets.

        With an older epoch it may, if it has had all these partitions since then (KIP-1251).
        """
        member_id, generation, instance_id, is_transactional, version, places = commit
        if generation < 0 and not self.by_id:
            return
        if is_transactional and (member_id, generation, instance_id) == ("", -1, None):
            return
        member = self._known(member_id)
        if not is_transactional and version < _OLDEST_COMMIT:
            raise RequestError(ErrorCode.UNSUPPORTED_VERSION)
        held = member.assigned | member.revoking
        since = [held.get((self._topics.by_name[name].id, index), member.epoch) for name, index in places]
        if generation != member.epoch and not max(since, default=member.epoch) <= generation < member.epoch:
            raise RequestError(ErrorCode.STALE_MEMBER_EPOCH)

    def check_fetch(self, member_id: str | None, epoch: int) -> None:
        """Raise RequestError if a member may not fetch committed offsets."""
        if member_id is None and epoch < 0:
            return
        if self._known(member_id or "").epoch != epoch:
            raise RequestError(ErrorCode.STALE_MEMBER_EPOCH)

    def rebalance(self) -> None:
        """Bump the group epoch. With the uniform assignor, members exchange their partitions."""
        owned = list(self._targets.values())
        self._targets = dict(zip(self._targets, [*owned[1:], *owned[:1]], strict=True))
        self.epoch += 1

    def expire(self, member_id: str) -> None:
        """Remove a member, as after its session timeout. Raises RequestError for an unknown one."""
        self._fence(self._known(member_id))

    def unload(self) -> None:
        """Do nothing: no request waits."""

    def leave(self, member_id: str, instance_id: str | None, epoch: int) -> None:
        """Remove a member; or, at epoch -2, let a static one keep its partitions until its session timeout."""
        member = self._known(member_id) if instance_id is None else self._static(member_id, instance_id)
        if epoch == LEFT:
            member.epoch, member.revoking = LEFT, {}
            if member.rebalance_timer is not None:
                member.rebalance_timer.cancel()
        else:
            self._fence(member)

    def heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str
    ) -> ConsumerGroupHeartbeatResponse:
        """Join or stay in the group. Raises RequestError (``GroupMetadataManager.consumerGroupHeartbeat``)."""
        owned = request.topic_partitions
        held = None if owned is None else {(each.topic_id, index) for each in owned for index in each.partitions}
        is_joining = request.member_epoch == 0
        member = self._member(request, held)
        before = set(member.assigned)
        is_changed = self._subscribe(member, request)
        member.client_id, member.client_host = client_id, client_host
        self._update_target(is_changed)
        if member.reconcile(self.target_epoch, self._targets.get(member.id, set()), held, self._is_free):
            self._start_rebalance_timer(member)
        if member.session_timer is not None:
            member.session_timer.cancel()
        member.session_timer = asyncio.get_running_loop().call_later(SESSION_SECONDS, self._fence, member)
        response = ConsumerGroupHeartbeatResponse(
            member_id=member.id, member_epoch=member.epoch, heartbeat_interval_ms=round(HEARTBEAT_SECONDS * 1000)
        )
        subscription = request.subscribed_topic_names, request.subscribed_topic_regex
        is_full = request.rebalance_timeout_ms != -1 and subscription != (None, None) and held is not None
        if is_joining or is_full or before != member.assigned.keys():
            response.assignment = _assignment(member.assigned)
        return response

    def _known(self, member_id: str) -> ConsumerMember:
        member = self.by_id.get(member_id)
        if member is None:
            message = f"Member {member_id} is not a member of group {self.id}."
            raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID, message)
        return member

    def _find_static(self, instance_id: str) -> ConsumerMember | None:
        return next((each for each in self.by_id.values() if each.instance_id == instance_id), None)

    def _static(self, member_id: str, instance_id: str) -> ConsumerMember:
        member = self._find_static(instance_id)
        if member is None:
            raise RequestError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member.id != member_id:
            raise RequestError(
                ErrorCode.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member {member.id}.",
            )
        return member

    def _member(self, request: ConsumerGroupHeartbeatRequest, held: set[Partition] | None) -> ConsumerMember:
        """Return the member that sent a request; add it if it joins. Raises RequestError, then nothing is changed."""
        id = request.member_id or self._groups.new_id()  # before version 1, the group chooses
        instance_id, is_joining = request.instance_id, request.member_epoch == 0
        released = None
        if instance_id is None:
            member = self.by_id.get(id) or ConsumerMember(id) if is_joining else self._known(id)
            member.check_epoch(request.member_epoch, held)
        elif not is_joining:
            member = self._static(id, instance_id)
            member.check_epoch(request.member_epoch, held)
        else:
            released = self._find_static(instance_id)
            member = ConsumerMember(id) if released is None else replace(released, id=id, epoch=0, previous_epoch=0)
            if released is not None and released.epoch != LEFT:
                raise RequestError(
                    ErrorCode.UNRELEASED_INSTANCE_ID,
                    f"Static member {id} with instance id {instance_id} cannot join the group because the instance id is"
                    f" owned by {released.id} member.",
                )
        _check_pattern(request.subscribed_topic_regex)
        for old in (released, self.by_id.get(id)):
            if old is not None and old is not member:
                self.by_id.pop(old.id, old).cancel_timers()
        if released is not None:
            self._targets[id] = self._targets.pop(released.id, set())
        self.by_id[id] = member
        return member

    def _subscribe(self, member: ConsumerMember, request: ConsumerGroupHeartbeatRequest) -> bool:
        """Take over what a request contains; return whether the subscription has changed."""
        before = member.topics, member.regex
        if request.instance_id is not None:
            member.instance_id = request.instance_id
        if request.rebalance_timeout_ms != -1:
            member.rebalance_timeout = request.rebalance_timeout_ms / 1000
        if request.server_assignor is not None:
            member.assignor = request.server_assignor
        if request.subscribed_topic_names is not None:
            member.topics = frozenset(request.subscribed_topic_names)
        if request.subscribed_topic_regex is not None:
            member.regex = request.subscribed_topic_regex
        return before != (member.topics, member.regex)

    def _topics_of(self, member: ConsumerMember) -> list[Topic]:
        pattern = re.compile(member.regex) if member.regex else None
        return [
            topic
            for name, topic in self._topics.by_name.items()
            if name in member.topics or (pattern is not None and pattern.fullmatch(name))
        ]

    def _subscribed(self) -> dict[UUID, int]:
        return {topic.id: len(topic.partitions) for each in self.by_id.values() for topic in self._topics_of(each)}

    def _update_target(self, is_changed: bool) -> None:
        """Bump the group epoch after a change of subscriptions or topics; assign partitions for a new epoch."""
        metadata = self._subscribed()
        if is_changed or metadata != self._metadata:
            self.epoch, self._metadata = self.epoch + 1, metadata
        if self.epoch > self.target_epoch:
            wanted = Counter(each.assignor for each in self.by_id.values() if each.assignor is not None)
            assignor = wanted.most_common(1)[0][0] if wanted else next(iter(ASSIGNORS))
            by_instance = sorted(
                self.by_id.values(), key=lambda each: (each.instance_id is None, each.instance_id or "")
            )
            members = {each.id: {topic.id for topic in self._topics_of(each)} for each in by_instance}
            self._targets = ASSIGNORS[assignor](members, metadata, self._targets)
            self.target_epoch = self.epoch

    def _is_free(self, partition: Partition) -> bool:
        return not any(member.holds(partition) for member in self.by_id.values())

    def _start_rebalance_timer(self, member: ConsumerMember) -> None:
        if member.rebalance_timer is not None:
            member.rebalance_timer.cancel()
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            loop = asyncio.get_running_loop()
            member.rebalance_timer = loop.call_later(member.rebalance_timeout, self._fence, member)

    def _fence(self, member: ConsumerMember) -> None:
        member.cancel_timers()
        del self.by_id[member.id]
        self._targets.pop(member.id, None)
        self._metadata = self._subscribed()
        self.epoch += 1


def _check_pattern(pattern: str | None) -> None:
    try:
        re.compile(pattern or "")
    except (re.error, OverflowError, RecursionError, FutureWarning) as error:
        message = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {error}."
        raise RequestError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None


def _assignment(partitions: Collection[Partition]) -> ConsumerGroupHeartbeatResponse.Assignment:
    numbers: dict[UUID, list[int]] = {}
    for topic, index in sorted(partitions):
        numbers.setdefault(topic, []).append(index)
    kind = ConsumerGroupHeartbeatResponse.TopicPartitions
    parts = [kind(topic_id=topic, partitions=indexes) for topic, indexes in numbers.items()]
    return ConsumerGroupHeartbeatResponse.Assignment(topic_partitions=parts)
