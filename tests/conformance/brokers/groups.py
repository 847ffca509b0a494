"""Broken brokers: groups, offsets and transactions."""

from __future__ import annotations

from typing import Any

from kafka_messages import (
    AddPartitionsToTxnResponse,
    ConsumerGroupHeartbeatResponse,
    DescribeGroupsResponse,
    EndTxnResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupResponse,
    ListGroupsRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

from . import relay as relays
from .bug import constant, relay, rule, sets

# Groups and offsets


def _dead_is_an_error(request: Any, response: Any) -> None:
    for each in response.groups:
        if each.group_state == "Dead":
            each.error_code = 69


def _error_at_the_top(request: Any, response: Any) -> None:
    response.error_code = max((each.error_code for each in response.members), default=0)


def _first_key(request: Any, response: Any) -> None:
    response.coordinators = response.coordinators[:1]


def _first_group(request: Any, response: Any) -> None:
    response.groups = response.groups[:1]


def _null_metadata(request: Any, response: Any) -> None:
    for topic in response.topics:
        for each in topic.partitions:
            each.metadata = each.metadata or None if each.committed_offset >= 0 else each.metadata


def _only_committed(request: Any, response: Any) -> None:
    for topic in response.topics:
        topic.partitions = [each for each in topic.partitions if each.committed_offset >= 0]


def _no_assignment(old: Any) -> Any:
    return old or ConsumerGroupHeartbeatResponse.Assignment(topic_partitions=[])


rule(
    "an error of unknown groups",
    DescribeGroupsResponse,
    _dead_is_an_error,
    "DESCRIBE-GROUPS.unknown-group",
    "KIP-848.described-as-a-classic-group",
)
rule(
    "no error of unknown groups",
    DescribeGroupsResponse,
    sets(error_code={69: 0}),
    "KIP-1043.unknown-group-has-an-error",
)
rule(
    "consumer groups in the old form",
    DescribeGroupsResponse,
    sets(group_state={"Dead": "Stable"}),
    "KIP-848.described-as-a-classic-group",
    "DESCRIBE-GROUPS.unknown-group",
    "KIP-1043.unknown-group-has-an-error",
)
rule("any type of key", FindCoordinatorRequest, sets(key_type={9: 0}), "FIND-COORDINATOR.unknown-key-type")
rule("one key", FindCoordinatorResponse, _first_key, "KIP-699.one-coordinator-per-key")
rule("any generation: Heartbeat", HeartbeatResponse, sets(error_code={22: 0}), "HEARTBEAT.wrong-generation")
rule("any member: Heartbeat", HeartbeatResponse, sets(error_code={25: 0}), "HEARTBEAT.wrong-generation")
rule("groups without name", JoinGroupRequest, sets(group_id={"": "a"}), "JOIN-GROUP.empty-group-id")
rule("members without protocols", JoinGroupResponse, sets(error_code={23: 0}), "JOIN-GROUP.no-protocols")
rule("any member: JoinGroup", JoinGroupResponse, sets(error_code={25: 0}), "JOIN-GROUP.unknown-member")
relay("member ids at all versions", relays.RequiresMemberIds, "JOIN-GROUP.no-member-id-needed-in-version-3")
relay("member ids at no version", relays.JoinsWithoutMemberId, "KIP-394.member-id-required")
rule("no fenced instances", HeartbeatResponse, sets(error_code={82: 0}), "KIP-345.second-instance-fences-the-first")
rule(
    "static leaders assign again",
    JoinGroupResponse,
    sets(skip_assignment=constant(False)),
    "KIP-814.static-leader-skips-assignment",
)
rule("an error at the top", LeaveGroupResponse, _error_at_the_top, "LEAVE-GROUP.error-per-member")
rule("groups in any state", ListGroupsRequest, sets(states_filter=constant([])), "KIP-518.list-groups-by-state")
rule(
    "any protocol",
    SyncGroupRequest,
    sets(protocol_name=constant("range")),
    "KIP-559.protocol-name-is-checked",
)
rule(
    "decoded assignments",
    SyncGroupResponse,
    sets(assignment=lambda old: old[:2] + bytes(8) if old else old),
    "SYNC-GROUP.assignment-is-opaque",
    "KIP-559.protocol-name-is-checked",
)
for code, problem, id in (
    (3, "unknown topics", "OFFSET-COMMIT.unknown-topic"),
    (12, "long metadata", "OFFSET-COMMIT.long-metadata"),
    (22, "any generation", "OFFSET-COMMIT.wrong-generation"),
    (25, "no member", "OFFSET-COMMIT.no-member-in-an-active-group"),
):
    rule(f"OffsetCommit accepts {problem}", OffsetCommitResponse, sets(error_code={code: 0}), id)
rule("null metadata", OffsetFetchResponse, _null_metadata, "OFFSET-COMMIT.null-metadata-is-empty")
rule(
    "committed offsets only",
    OffsetFetchResponse,
    _only_committed,
    "OFFSET-FETCH.no-committed-offset",
    "KIP-447.unstable-offset",
)
rule("one group", OffsetFetchResponse, _first_group, "KIP-709.offsets-of-two-groups")
rule(
    "all offsets for none",
    OffsetFetchRequest,
    sets(topics=lambda old: old or None),
    "KIP-88.null-topics-means-all-committed",
)
rule("unstable offsets", OffsetFetchRequest, sets(require_stable=constant(False)), "KIP-447.unstable-offset")
for code, problem, id in (
    (110, "any epoch", "KIP-848.fenced-epoch"),
    (42, "no subscription", "KIP-848.join-without-subscription"),
    (25, "any member", "KIP-848.unknown-member"),
):
    rule(f"consumer groups accept {problem}", ConsumerGroupHeartbeatResponse, sets(error_code={code: 0}), id)
rule(
    "an empty assignment without news",
    ConsumerGroupHeartbeatResponse,
    sets(assignment=_no_assignment),
    "KIP-848.join-and-unchanged-heartbeat",
)

# Transactions


def _constant_id(request: Any, response: Any) -> None:
    response.producer_id = 7 if request.transactional_id is None else response.producer_id


def _new_id(request: Any, response: Any) -> None:
    response.producer_id += 1000 * (response.producer_epoch > 0)


def _old_epoch(request: Any, response: Any) -> None:
    response.producer_epoch -= response.producer_epoch > 0


rule(
    "known topics are added",
    AddPartitionsToTxnResponse,
    sets(partition_error_code={55: 0}),
    "ADD-PARTITIONS-TO-TXN.one-unknown-topic",
)
rule("the end of no transaction", EndTxnResponse, sets(error_code={48: 0}), "END-TXN.no-transaction")
rule("new errors at old versions", EndTxnResponse, sets(error_code={47: 90}), "KIP-588.old-epoch-of-a-transaction")
rule("the epoch stays", EndTxnResponse, _old_epoch, "KIP-890.end-txn-raises-the-epoch")
rule(
    "an empty transactional id",
    InitProducerIdRequest,
    sets(transactional_id={"": None}),
    "INIT-PRODUCER-ID.empty-transactional-id",
)
rule("one producer id", InitProducerIdResponse, _constant_id, "INIT-PRODUCER-ID.ids-are-unique")
rule(
    "another producer id",
    InitProducerIdResponse,
    _new_id,
    "INIT-PRODUCER-ID.same-id-higher-epoch",
    "KIP-360.init-with-an-old-epoch",
)
rule(
    "any timeout of transactions",
    InitProducerIdRequest,
    sets(transaction_timeout_ms=constant(60_000)),
    "INIT-PRODUCER-ID.timeout-above-the-limit",
)
rule(
    "any epoch of InitProducerId",
    InitProducerIdRequest,
    sets(producer_id=constant(-1), producer_epoch=constant(-1)),
    "KIP-360.init-with-an-old-epoch",
)
