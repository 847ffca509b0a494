"""Committed offsets: OffsetCommit and OffsetFetch, as ``OffsetMetadataManager`` of Kafka's group coordinator."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from kafka_messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Response,
    TxnOffsetCommitRequest,
)
from kafka_messages.protocol import ErrorCode

from ..state.batches import now_ms
from ..state.cluster import Context
from ..state.errors import RequestError, failures
from ..state.groups import Commit
from ..state.offsets import Committed
from ..state.topics import ZERO

MOST_METADATA = 4096
"""Default of ``offset.metadata.max.bytes``."""

FetchedGroup: TypeAlias = OffsetFetchResponse.OffsetFetchResponseGroup
FetchedTopic: TypeAlias = OffsetFetchResponse.OffsetFetchResponseTopics
FetchedPartition: TypeAlias = OffsetFetchResponse.OffsetFetchResponsePartitions


def check_commit(
    context: Context, request: OffsetCommitRequest | TxnOffsetCommitRequest, places: Collection[tuple[str, int]]
) -> None:
    """Raise RequestError if a member may not commit offsets of its group.

    A commit without a generation creates the group if it does not exist: a simple group, without members.
    """
    group_id, generation = request.group_id, request.generation_id_or_member_epoch
    is_transactional = isinstance(request, TxnOffsetCommitRequest)
    context.check_coordinator(group_id)
    group = context.cluster.groups.get(group_id)
    if group is None and generation < 0:
        group = context.cluster.create_group(group_id)
    if group is None:
        is_new = context.version >= 9 and not is_transactional
        raise RequestError(ErrorCode.GROUP_ID_NOT_FOUND if is_new else ErrorCode.ILLEGAL_GENERATION)
    try:
        member = request.member_id, generation, request.group_instance_id
        group.check_commit(Commit(*member, is_transactional, context.version, places))
    except RequestError as error:
        if is_transactional and error.code == ErrorCode.STALE_MEMBER_EPOCH:
            raise RequestError(ErrorCode.ILLEGAL_GENERATION) from None
        raise


def committed_from(part: Any) -> Committed:
    """Return the offset in a partition of an OffsetCommit or TxnOffsetCommit request. Raises RequestError."""
    metadata = part.committed_metadata or ""
    if len(metadata) > MOST_METADATA:
        raise RequestError(ErrorCode.OFFSET_METADATA_TOO_LARGE)
    return Committed(part.committed_offset, part.committed_leader_epoch, metadata, now_ms())


async def offset_commit(context: Context, request: OffsetCommitRequest) -> Response:
    """Answer as ``KafkaApis.handleOffsetCommitRequest``. Retention times are ignored."""
    topics, response, valid = context.cluster.topics, OffsetCommitResponse(), []
    for topic in request.topics:
        name = topics.names.get(topic.topic_id, "") if topic.topic_id != ZERO else topic.name
        found = OffsetCommitResponse.OffsetCommitResponseTopic(name=name, topic_id=topic.topic_id)
        response.topics.append(found)
        for each in topic.partitions:
            part = OffsetCommitResponse.OffsetCommitResponsePartition(partition_index=each.partition_index)
            found.partitions.append(part)
            with failures(part):
                topics.partition(name, topic.topic_id, each.partition_index)
                valid.append((name, each, part))
    if valid:
        check_commit(context, request, [(name, each.partition_index) for name, each, _ in valid])
    for name, each, part in valid:
        with failures(part):
            context.cluster.offsets.commit(request.group_id, name, each.partition_index, committed_from(each))
    return response


async def offset_fetch(context: Context, request: OffsetFetchRequest) -> Response:
    """Answer as ``KafkaApis.handleOffsetFetchRequest``."""
    if context.version >= 8:
        response = OffsetFetchResponse()
        for group in request.groups:
            fetched = FetchedGroup(group_id=group.group_id)
            response.groups.append(fetched)
            with failures(fetched):
                fetched.topics = _fetched(context, request, group)
        return response
    kind = OffsetFetchRequest.OffsetFetchRequestTopics
    older = request.topics
    topics = (
        None if older is None else [kind(name=each.name, partition_indexes=each.partition_indexes) for each in older]
    )
    asked = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)
    return OffsetFetchResponse(topics=[_older(topic) for topic in _fetched(context, request, asked)])


def _fetched(
    context: Context, request: OffsetFetchRequest, asked: OffsetFetchRequest.OffsetFetchRequestGroup
) -> list[FetchedTopic]:
    """Return the offsets of a group. Raises RequestError."""
    cluster, id = context.cluster, asked.group_id
    context.check_coordinator(id)
    if id in cluster.groups:
        cluster.groups[id].check_fetch(asked.member_id, asked.member_epoch)
    committed = cluster.offsets.of_group(id)
    if asked.topics is None:
        places: dict[str, list[int]] = {}
        for name, index in committed:
            places.setdefault(name, []).append(index)
        wanted = [(name, cluster.topics.by_name[name].id, indexes) for name, indexes in places.items()]
    else:
        wanted = [
            (topic.name or cluster.topics.names.get(topic.topic_id, ""), topic.topic_id, topic.partition_indexes)
            for topic in asked.topics
        ]
    topics = []
    for name, topic_id, indexes in wanted:
        parts = []
        for index in indexes:
            part = FetchedPartition(partition_index=index, committed_offset=-1)
            parts.append(part)
            if not name and topic_id != ZERO:
                part.error_code = ErrorCode.UNKNOWN_TOPIC_ID
            elif request.require_stable and cluster.offsets.is_pending(id, name, index):
                part.error_code = ErrorCode.UNSTABLE_OFFSET_COMMIT
            elif (name, index) in committed:
                part.committed_offset, part.committed_leader_epoch, part.metadata, _ = committed[name, index]
        topics.append(FetchedTopic(name=name, topic_id=topic_id, partitions=parts))
    return topics


def _older(topic: FetchedTopic) -> OffsetFetchResponse.OffsetFetchResponseTopic:
    """Return a topic in the form of the versions before 8."""
    names = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")
    kind = OffsetFetchResponse.OffsetFetchResponsePartition
    parts = [kind(**{name: getattr(each, name) for name in names}) for each in topic.partitions]
    return OffsetFetchResponse.OffsetFetchResponseTopic(name=topic.name, partitions=parts)
