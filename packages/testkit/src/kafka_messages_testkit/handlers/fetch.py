"""Fetch, ListOffsets and OffsetForLeaderEpoch."""

from __future__ import annotations

import asyncio
from typing import Any

from kafka_messages import (
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    Response,
)
from kafka_messages.enums import IsolationLevel, ListOffsetsTimestamp
from kafka_messages.protocol import ErrorCode

from ..state.batches import converted
from ..state.cluster import Context
from ..state.errors import RequestError, failures
from ..state.log import Log, Timed
from ..state.topics import ZERO

_MAX_BYTES = 55 << 20  # default of fetch.max.bytes


async def fetch(context: Context, request: FetchRequest) -> Response:
    """Answer as ``KafkaApis.handleFetchRequest``; wait as ``DelayedFetch`` does. There are no fetch sessions (KIP-227)."""
    if request.session_epoch not in (0, -1):
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + request.max_wait_ms / 1000
    while True:
        read = _Read(context, request)
        if read.is_complete or loop.time() >= deadline:
            return read.response
        await _change(read.logs, deadline)


async def _change(logs: list[Log], deadline: float) -> None:
    event = asyncio.Event()
    for log in logs:
        log.waiting.add(event)
    try:
        async with asyncio.timeout_at(deadline):
            await event.wait()
    except TimeoutError:
        pass
    finally:
        for log in logs:
            log.waiting.discard(event)


class _Read:
    """One pass over the partitions of a Fetch request."""

    def __init__(self, context: Context, request: FetchRequest) -> None:
        self.context, self.request, self.response = context, request, FetchResponse()
        self.logs: list[Log] = []
        self.left, self.size, self.has_result = min(request.max_bytes, _MAX_BYTES), 0, not request.topics
        for topic in request.topics:
            made = FetchResponse.FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
            self.response.responses.append(made)
            for each in topic.partitions:
                made.partitions.append(self.partition(topic, each))

    @property
    def is_complete(self) -> bool:
        return self.has_result or self.size >= self.request.min_bytes

    def partition(self, topic: Any, each: Any) -> FetchResponse.PartitionData:
        part = FetchResponse.PartitionData(partition_index=each.partition, high_watermark=-1, records=b"")
        with failures(part):
            self.context.cluster.topics.partition(topic.topic, topic.topic_id, each.partition)
            part.aborted_transactions = None
            log = self.context.led(topic.topic, topic.topic_id, each.partition, each.current_leader_epoch)
            self.logs.append(log)
            if not self.diverges(log, each, part):
                self.read(log, each, part)
            part.high_watermark, part.log_start_offset = log.end, log.start
            part.last_stable_offset = log.last_stable_offset
        if part.error_code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH):
            self.context.add_leader(self.response, part, topic.topic, topic.topic_id, each.partition)
        self.has_result |= part.error_code != ErrorCode.NONE
        return part

    def diverges(self, log: Log, each: Any, part: FetchResponse.PartitionData) -> bool:
        """Return whether the last fetched epoch ends before the offset (KIP-595), as ``Partition.readRecords``."""
        if each.last_fetched_epoch < 0:
            return False
        epoch, end = log.end_of_epoch(each.last_fetched_epoch)
        if epoch < 0 or each.fetch_offset < log.start:
            raise RequestError(ErrorCode.OFFSET_OUT_OF_RANGE)
        if epoch == each.last_fetched_epoch and end >= each.fetch_offset:
            return False
        part.diverging_epoch = FetchResponse.EpochEndOffset(epoch=epoch, end_offset=end)
        self.has_result = True
        return True

    def read(self, log: Log, each: Any, part: FetchResponse.PartitionData) -> None:
        is_committed = self.request.isolation_level == IsolationLevel.READ_COMMITTED
        end = log.last_stable_offset if is_committed else log.end
        batches = log.read(each.fetch_offset, end, min(each.partition_max_bytes, self.left), not self.size)
        size = sum(batch.size for batch in batches)
        self.size, self.left = self.size + size, max(self.left - size, 0)
        if is_committed:
            aborted = log.aborted(each.fetch_offset, batches[-1].last_offset + 1) if batches else []
            kind = FetchResponse.AbortedTransaction
            part.aborted_transactions = [kind(producer_id=id, first_offset=first) for id, first in aborted]
        version = self.context.version
        if version < 4:  # these versions have formats 0 and 1 only
            part.records = converted(batches, each.fetch_offset, 1 if version >= 2 else 0)
        else:
            part.records = b"".join(batch.data for batch in batches)


_SINCE: dict[int, int] = {
    ListOffsetsTimestamp.LATEST: 0,
    ListOffsetsTimestamp.EARLIEST: 0,
    ListOffsetsTimestamp.MAX: 7,
    ListOffsetsTimestamp.EARLIEST_LOCAL: 8,
    ListOffsetsTimestamp.LATEST_TIERED: 9,
    ListOffsetsTimestamp.EARLIEST_PENDING_UPLOAD: 11,
}
"""Special timestamps, with the version of ListOffsets from which they are supported."""


async def list_offsets(context: Context, request: ListOffsetsRequest) -> Response:
    """Answer as ``KafkaApis.handleListOffsetRequest``, without tiered storage."""
    response, kind = ListOffsetsResponse(), ListOffsetsResponse.ListOffsetsPartitionResponse
    for topic in request.topics:
        made = ListOffsetsResponse.ListOffsetsTopicResponse(name=topic.name)
        response.topics.append(made)
        for each in topic.partitions:
            part = kind(partition_index=each.partition_index, timestamp=-1, offset=-1, leader_epoch=-1)
            made.partitions.append(part)
            with failures(part):
                log = context.led(topic.name, ZERO, each.partition_index, each.current_leader_epoch)
                if each.timestamp < 0 and context.version < _SINCE.get(each.timestamp, 1 << 15):
                    raise RequestError(ErrorCode.UNSUPPORTED_VERSION)
                is_committed = request.isolation_level == IsolationLevel.READ_COMMITTED
                found = _found(log, each.timestamp, log.last_stable_offset if is_committed else log.end)
                part.timestamp, part.offset, part.leader_epoch = found
                if context.version == 0:
                    part.old_style_offsets = _segments(log, each.timestamp)[: each.max_num_offsets]
    return response


def _found(log: Log, timestamp: int, end: int) -> Timed:
    if timestamp == ListOffsetsTimestamp.LATEST:
        return Timed(-1, end, log.leader_epoch)
    if timestamp in (ListOffsetsTimestamp.EARLIEST, ListOffsetsTimestamp.EARLIEST_LOCAL):
        epoch, first = log.epochs[0]
        return Timed(-1, log.start, epoch if first <= log.start else -1)
    found = Timed()
    if timestamp == ListOffsetsTimestamp.MAX:
        found = log.find_latest_timestamp()
    elif timestamp >= 0:
        found = log.find_timestamp(timestamp)
    return found if found.offset < end else Timed()


def _segments(log: Log, timestamp: int) -> list[int]:
    """Return the offsets of version 0: the end, and the start of the only segment."""
    if timestamp == ListOffsetsTimestamp.LATEST and log.batches:
        return [log.end, log.start]
    return [log.start] if timestamp < 0 else []


async def offset_for_leader_epoch(context: Context, request: OffsetForLeaderEpochRequest) -> Response:
    """Answer as ``KafkaApis.handleOffsetForLeaderEpochRequest`` (KIP-101, KIP-320)."""
    response = OffsetForLeaderEpochResponse()
    for topic in request.topics:
        made = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(topic=topic.topic)
        response.topics.append(made)
        for each in topic.partitions:
            part = OffsetForLeaderEpochResponse.EpochEndOffset(partition=each.partition, leader_epoch=-1, end_offset=-1)
            made.partitions.append(part)
            with failures(part):
                log = context.led(topic.topic, ZERO, each.partition, each.current_leader_epoch)
                part.leader_epoch, part.end_offset = log.end_of_epoch(each.leader_epoch)
    return response
