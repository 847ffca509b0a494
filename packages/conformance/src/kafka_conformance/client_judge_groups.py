"""Judges of groups and transactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_messages.connection import error_codes
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import Exchange

from .client_judge import Violation, is_of, named, sent_after
from .client_judge_records import sent_batches

_OF_MEMBERS = ("SyncGroup", "Heartbeat", "OffsetCommit")
_OF_GROUPS = ("JoinGroup", *_OF_MEMBERS, "LeaveGroup")
_OF_TRANSACTIONS = ("Produce", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn")
_BEFORE_TRANSACTIONS_2 = {"Produce": 11, "EndTxn": 4, "TxnOffsetCommit": 4}
"""Highest versions without the feature transaction.version 2 (KIP-890)."""


def codes(exchange: Exchange) -> set[int]:
    """Return the error codes of a response."""
    response = exchange.response
    return (
        set() if response is None else {each.code for each in error_codes(response, version=exchange.response_version)}
    )


def group_requests_go_to_the_coordinator(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """Heartbeats may go on until the client asks again; one more request to the old coordinator may be on its way."""
    coordinator, old, changed_at, late = None, None, 0.0, 0
    for each in exchanges:
        if is_of(each, "FindCoordinator") and (response := each.response) is not None:
            found: Any = response.coordinators[0] if each.version >= 4 else response
            coordinator = found.node_id if found.error_code == ErrorCode.NONE else None
            changed_at, late = each.answered_at or 0.0, 0
        elif is_of(each, *_OF_GROUPS) and each.node_id != coordinator:
            is_allowed = each.received_at <= changed_at or (coordinator is None and is_of(each, "Heartbeat"))
            late += not is_allowed
            if each.node_id != old or (late > 1 and not is_allowed):
                place = f"to node {each.node_id}, not to {coordinator}"
                where = "without looking up the coordinator" if coordinator is None else place
                yield Violation(f"{named(each)} was sent {where}", each)
        elif is_of(each, *_OF_GROUPS) and ErrorCode.NOT_COORDINATOR in codes(each):
            coordinator, old, changed_at, late = None, each.node_id, each.answered_at or 0.0, 0
    if old is not None and coordinator is None:
        yield Violation("the coordinator was not looked up after NOT_COORDINATOR")


def member_id_is_used(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """A JoinGroup response gives the member id, with success or with MEMBER_ID_REQUIRED (KIP-394)."""
    member = ""
    for each in exchanges:
        if is_of(each, "JoinGroup", *_OF_MEMBERS) and each.request.member_id != member:
            yield Violation(f"{named(each)} has the member id {each.request.member_id!r}, expected {member!r}", each)
        if is_of(each, "JoinGroup") and each.response is not None:
            member = each.response.member_id


def unknown_member_joins_anew(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    lost, joined, joined_at, late = set[str](), True, 0.0, 0
    for each in exchanges:
        if is_of(each, "JoinGroup") and not joined:
            if each.request.member_id:
                yield Violation(f"{named(each)} has a member id after UNKNOWN_MEMBER_ID", each)
            joined, joined_at, late = True, each.answered_at or each.received_at, 0
        elif is_of(each, *_OF_MEMBERS) and (member := each.request.member_id) in lost:
            late += joined and each.received_at > joined_at
            if joined and late > 1:  # one may have been on its way
                yield Violation(f"{named(each)} has a member id that got UNKNOWN_MEMBER_ID", each)
        elif is_of(each, *_OF_MEMBERS) and ErrorCode.UNKNOWN_MEMBER_ID in codes(each):
            lost.add(member)
            joined = False
    if not joined:
        yield Violation("no JoinGroup follows UNKNOWN_MEMBER_ID")


def next_offset_is_committed(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """The last offset is after the three records, with member and generation of the last JoinGroup."""
    member, last, offsets = ("", -1), None, dict[int, int]()
    for each in exchanges:
        if is_of(each, "JoinGroup") and each.response is not None:
            member = each.response.member_id, each.response.generation_id
        elif is_of(each, "OffsetCommit"):
            parts = [part for topic in each.request.topics for part in topic.partitions]
            offsets.update((part.partition_index, part.committed_offset) for part in parts)
            last = each if parts else last
            found = each.request.member_id, each.request.generation_id_or_member_epoch
            if found != member:
                yield Violation(f"{named(each)} has member and generation {found}, expected {member}", each)
    if offsets != {0: 3}:
        yield Violation(f"the last committed offsets are {offsets}, expected {{0: 3}}", last)


def nothing_follows_fencing(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    sent = [each for each in exchanges if is_of(each, *_OF_TRANSACTIONS)]
    fenced = next((each for each in sent if ErrorCode.PRODUCER_FENCED in codes(each)), None)
    if fenced is None:
        yield Violation("no request got PRODUCER_FENCED")
        return
    for each in sent_after(fenced, sent):
        yield Violation(f"{named(each)} was sent after PRODUCER_FENCED", each)


def partitions_are_added_first(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """A transaction has its partitions before their records, and ends after the responses to these."""
    added: set[int] = set()
    unanswered: list[Exchange] = []
    for each in exchanges:
        if is_of(each, "AddPartitionsToTxn") and not codes(each) - {ErrorCode.NONE}:
            topics = [topic for one in each.request.transactions if not one.verify_only for topic in one.topics]
            for topic in each.request.v3_and_below_topics or topics:
                added.update(topic.partitions)
        elif is_of(each, "Produce"):
            unanswered.append(each)
            for sent, batch in sent_batches([each]):
                if sent.partition not in added:
                    yield Violation(f"{named(each)}: partition {sent.partition} is not in the transaction", each)
                if not (batch.is_transactional and each.request.transactional_id):
                    yield Violation(f"{named(each)}: a batch is not transactional", each)
        elif is_of(each, "EndTxn"):
            if any((one.answered_at or each.received_at + 1) > each.received_at for one in unanswered):
                yield Violation(f"{named(each)} was sent while a Produce was unanswered", each)
            added.clear()
            unanswered.clear()


def partitions_are_added_as_a_client(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    for each in exchanges:
        if is_of(each, "AddPartitionsToTxn") and each.version > 3:  # those need the right to ClusterAction
            yield Violation(f"{named(each)} is for brokers; the highest version of clients is 3", each)


def transactions_are_version_1(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    for each in exchanges:
        most = _BEFORE_TRANSACTIONS_2.get(each.api.name, each.version)
        if each.version > most and getattr(each.request, "transactional_id", None):
            yield Violation(f"{named(each)} needs transaction.version 2; the highest version without is {most}", each)
