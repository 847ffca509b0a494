"""Fetch responses with the record batches that a case lists, in place of the cluster's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count
from typing import Any, Final, TypeAlias

from kafka_messages import FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse
from kafka_messages.enums import ListOffsetsTimestamp
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster
from kafka_records import read_headers

from kafka_protocol_vectors import batches

NAME: Final = "conformance"
"""Topic, group and transactional id of all tasks."""
Stored: TypeAlias = Sequence[str | int]
"""Id of a vector, its base offset, and how many of its bytes are returned; without the last, all."""
_LEADER_EPOCH, _MAGIC = slice(12, 16), 16
_START = 100
_SESSION = 77


@cache
def _vectors() -> dict[str, bytes]:
    return {each.id: each.data for each in batches()}


def _encoded(stored: Stored) -> bytes:
    vector, offset, *size = stored
    data = bytearray(_vectors()[str(vector)])
    data[:8] = int(offset).to_bytes(8, "big")
    if data[_MAGIC] == 2:
        data[_LEADER_EPOCH] = bytes(4)  # that of the cluster
    return bytes(data)[: int(size[0]) if size else None]


def replay(cluster: KafkaCluster, log: Iterable[Sequence[Stored]]) -> None:
    """Return one element of ``log`` for each Fetch; the cluster waits at its end, as for its own records."""
    chunks = []
    for batches_ in log:
        data = b"".join(map(_encoded, batches_))
        chunks.append((int(batches_[0][1]), next_offset(data), data))
    for _ in range(chunks[-1][1]):
        cluster.produce(NAME, b"")

    def replayed(request: FetchRequest, response: FetchResponse) -> FetchResponse:
        offsets = fetch_offsets(request)
        for part in (part for topic in response.responses for part in topic.partitions):
            offset = offsets[part.partition_index]
            part.records = next((data for first, end, data in chunks if first <= offset < end), b"")
        return response

    cluster.on(FetchRequest, times=None, optional=True).change(replayed)


def fetch_offsets(request: FetchRequest) -> dict[int, int]:
    """Return the offsets by partition; there is only one topic."""
    return {part.partition: part.fetch_offset for topic in request.topics for part in topic.partitions}


def next_offset(data: bytes | None, otherwise: int = -1) -> int:
    """Return the offset after the last whole batch."""
    return max((batch.last_offset + 1 for batch in read_headers(data or b"")), default=otherwise)


def null_records(cluster: KafkaCluster) -> None:
    """Answer the first two Fetch requests with null records."""

    def null(request: FetchRequest, response: FetchResponse) -> FetchResponse:
        for part in (part for topic in response.responses for part in topic.partitions):
            part.records = None
        return response

    cluster.on(FetchRequest, times=2, optional=True).change(null)
    for _ in range(3):
        cluster.produce(NAME, b"v")


def offsets_from_100(cluster: KafkaCluster) -> None:
    """Delete the records below offset 100 after the client has looked up the first offset."""
    for _ in range(_START + 3):
        cluster.produce(NAME, b"v")

    def moved(request: ListOffsetsRequest, response: ListOffsetsResponse) -> ListOffsetsResponse:
        wanted = request.topics[0].partitions[0].timestamp
        if wanted == ListOffsetsTimestamp.EARLIEST:
            response.topics[0].partitions[0].offset = _START
        return response

    def is_below(request: FetchRequest) -> bool:
        return any(offset < _START for offset in fetch_offsets(request).values())

    cluster.on(ListOffsetsRequest, nth=2, times=None, optional=True).change(moved)
    cluster.on(FetchRequest, topic=NAME, when=is_below, times=None, optional=True).fail(ErrorCode.OFFSET_OUT_OF_RANGE)


def fetch_session(cluster: KafkaCluster) -> None:
    """Keep a fetch session (KIP-227): one record for each Fetch; the fourth ends the session with an error."""
    numbers, session = count(1), dict[str, Any]()

    def answer(request: FetchRequest) -> FetchResponse | None:
        if request.session_id == 0 and request.session_epoch == -1:
            return None  # without a session
        if request.session_id == 0:
            session.update(topic=request.topics[0], offset=0)
        if next(numbers) == 3 or not session:
            return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        session["offset"] = next(iter(fetch_offsets(request).values()), session["offset"])
        return _one_record(session["topic"], session["offset"])

    for _ in range(3):
        cluster.produce(NAME, b"v")
    cluster.on(FetchRequest, times=None, optional=True).respond(answer)


def _one_record(topic: FetchRequest.FetchTopic, offset: int) -> FetchResponse:
    records = _encoded(("batch-2-none-single", offset)) if offset < 3 else b""
    part = FetchResponse.PartitionData(partition_index=0, high_watermark=3, last_stable_offset=3, records=records)
    made = FetchResponse.FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=[part])
    return FetchResponse(session_id=_SESSION, responses=[made])
