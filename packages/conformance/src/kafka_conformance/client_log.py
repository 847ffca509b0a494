"""Fetch responses with the record batches that a case lists, in place of the cluster's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, TypeAlias

from kafka_messages import FetchRequest, FetchResponse
from kafka_messages_testkit import KafkaCluster
from kafka_records import read_headers

from kafka_protocol_vectors import batches

NAME: Final = "conformance"
"""Topic, group and transactional id of all tasks."""
Stored: TypeAlias = Sequence[str | int]
"""Id of a vector, its base offset, and how many of its bytes are returned; without the last, all."""
_LEADER_EPOCH, _MAGIC = slice(12, 16), 16


@cache
def _vectors() -> dict[str, bytes]:
    return {each.id: each.data for each in batches()}


def encoded(stored: Stored) -> bytes:
    vector, offset, *size = stored
    data = bytearray(_vectors()[str(vector)])
    data[:8] = int(offset).to_bytes(8, "big")
    if data[_MAGIC] == 2:
        data[_LEADER_EPOCH] = bytes(4)  # that of the cluster
    return bytes(data)[: int(size[0]) if size else None]


def replay(cluster: KafkaCluster, log: Iterable[Sequence[Stored]]) -> None:
    """Return one element of ``log`` for each Fetch; the cluster waits at its end, as for its own records."""
    chunks = []
    for some in log:
        data = b"".join(map(encoded, some))
        chunks.append((int(some[0][1]), next_offset(data), data))
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


def next_offset(data: bytes) -> int:
    """Return the offset after the last whole batch, or -1."""
    return max((batch.last_offset + 1 for batch in read_headers(data)), default=-1)
