"""Fetch, ListOffsets and OffsetForLeaderEpoch, with versions, long polling, isolation levels and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster
from kafka_messages_testkit.state.log import Log
from kafka_records import Record, read_batches, write_batch

from tests.support.testkit_broker import asked, client

LONG = 60_000


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(topics={"orders": 2}) as made:
        yield made


def log_of(cluster: KafkaCluster, index: int = 0) -> Log:
    return cluster._state.topics.by_name["orders"].partitions[index]


def request(*offsets: int, name: str = "orders", id: UUID | None = None, of_part: Any = None, **fields: Any) -> Any:
    """Return a request for the partitions of a topic, from ``offsets`` on."""
    topic = FetchRequest.FetchTopic(topic=name)
    if id is not None:
        topic.topic, topic.topic_id = "", id
    for index, offset in enumerate(offsets):
        part = {"partition": index, "fetch_offset": offset, "partition_max_bytes": 1 << 20} | (of_part or {})
        topic.partitions.append(FetchRequest.FetchPartition(**part))
    return FetchRequest(**{"max_wait_ms": 0, "min_bytes": 1} | fields, topics=[topic])


def part(index: int = 0, records: bytes = b"", **fields: Any) -> FetchResponse.PartitionData:
    end = fields.pop("end", 0)
    made = {"high_watermark": end, "last_stable_offset": end, "log_start_offset": 0, "aborted_transactions": None}
    return FetchResponse.PartitionData(**made | fields, partition_index=index, records=records)


def failed(index: int, code: ErrorCode, **fields: Any) -> FetchResponse.PartitionData:
    nothing = {"high_watermark": -1, "last_stable_offset": -1, "log_start_offset": -1}
    return part(index, **nothing | fields, error_code=code)


def response(*parts: Any, name: str = "orders", id: UUID | None = None) -> FetchResponse:
    topic = FetchResponse.FetchableTopicResponse(topic=name, partitions=list(parts))
    if id is not None:
        topic.topic, topic.topic_id = "", id
    return FetchResponse(responses=[topic])


def stored(cluster: KafkaCluster, index: int = 0) -> list[bytes]:
    return [each.data for each in log_of(cluster, index).batches]


@pytest.mark.parametrize("version", range(4, 13))
def test_batches_are_returned_as_they_are_stored(cluster: KafkaCluster, version: int) -> None:
    for value in (b"a", b"b"):
        cluster.produce("orders", value, partition=0, headers=[("trace", b"1")])
    [answer] = asked(cluster.bootstrap_servers, request(1, 0), version=version)
    assert answer == response(part(0, stored(cluster)[1], end=2), part(1)).downgraded(version)


@pytest.mark.parametrize("version", range(13, 19))
def test_topics_have_ids_from_version_13_on(cluster: KafkaCluster, version: int) -> None:
    cluster.produce("orders", b"a", partition=0)
    known, unknown = cluster._state.topics.by_name["orders"].id, UUID(int=9)
    answers = asked(cluster.bootstrap_servers, request(0, id=known), request(0, id=unknown), version=version)
    nothing = failed(0, ErrorCode.UNKNOWN_TOPIC_ID, aborted_transactions=[])
    assert answers == [
        response(part(0, stored(cluster)[0], end=1), id=known),
        response(nothing, id=unknown),
    ]


@pytest.mark.parametrize("version", range(4))
def test_older_versions_get_older_formats(version: int) -> None:
    with KafkaCluster(topics={"orders": 1}, release="2.8") as cluster:
        records = [Record(-1, time, b"k", b"v", (("trace", b"1"),)) for time in (5, 6, 7)]
        log_of(cluster).append(write_batch(records, compression="gzip"))
        log_of(cluster).append_marker(1, 0, True)
        log_of(cluster).append(write_batch(records[:1]))
        [answer] = asked(cluster.bootstrap_servers, request(1), version=version)
    [found] = answer.responses[0].partitions
    batches = list(read_batches(found.records))
    magic = 1 if version >= 2 else 0
    assert {each.magic for each in batches} == {magic}
    assert [record for each in batches for record in each.records()] == [
        Record(offset, time if magic else -1, b"k", b"v") for offset, time in ((1, 6), (2, 7), (4, 5))
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"of_part": {"partition_max_bytes": 0}}, [1, 0]),
        ({"max_bytes": 0}, [1, 0]),
        ({"of_part": {"partition_max_bytes": 150}}, [2, 2]),
        ({"max_bytes": 220}, [3, 0]),
        ({"max_bytes": 290}, [3, 1]),
        ({}, [3, 3]),
    ],
)
def test_the_first_batch_is_always_returned(cluster: KafkaCluster, fields: Any, expected: list[int]) -> None:
    for index in (0, 1) * 3:
        cluster.produce("orders", b"v", partition=index)
    assert len(stored(cluster)[0]) == 69
    [answer] = asked(cluster.bootstrap_servers, request(0, 0, **fields))
    found = answer.responses[0].partitions
    assert [each.records for each in found] == [
        b"".join(stored(cluster, index)[:count]) for index, count in enumerate(expected)
    ]


def test_offsets_out_of_the_log_are_refused(cluster: KafkaCluster) -> None:
    cluster.produce("orders", b"v", partition=0)
    answers = asked(cluster.bootstrap_servers, request(1, 1), request(2, -1), version=12)
    assert answers == [
        response(part(0, end=1), failed(1, ErrorCode.OFFSET_OUT_OF_RANGE)),
        response(failed(0, ErrorCode.OFFSET_OUT_OF_RANGE), failed(1, ErrorCode.OFFSET_OUT_OF_RANGE)),
    ]


def test_unknown_partitions_are_refused(cluster: KafkaCluster) -> None:
    wanted = [request(0, of_part={"partition": 2}), request(0, name="other")]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert asked(cluster.bootstrap_servers, *wanted, version=12) == [
        response(failed(2, unknown, aborted_transactions=[])),
        response(failed(0, unknown, aborted_transactions=[]), name="other"),
    ]


def transactional(id: int, sequence: int) -> bytes:
    return write_batch(
        [Record(-1, 5, None, b"v")],
        producer_id=id,
        producer_epoch=0,
        base_sequence=sequence,
        is_transactional=True,
    )


def test_read_committed_ends_at_the_last_stable_offset(cluster: KafkaCluster) -> None:
    log = log_of(cluster)
    log.append(transactional(7, 0))
    log.append(transactional(8, 0))
    log.append_marker(7, 0, False)
    data = stored(cluster)
    wanted = request(0, isolation_level=1)
    [open_, beyond, dirty] = asked(cluster.bootstrap_servers, wanted, request(2, isolation_level=1), request(0))
    expected: dict[str, Any] = {"end": 3, "last_stable_offset": 1}
    aborted = [FetchResponse.AbortedTransaction(producer_id=7, first_offset=0)]
    assert open_ == response(part(0, data[0], aborted_transactions=aborted, **expected))
    assert beyond == response(part(0, aborted_transactions=[], **expected))
    assert dirty == response(part(0, b"".join(data), **expected))
    log.append_marker(8, 0, True)
    [closed] = asked(cluster.bootstrap_servers, wanted)
    assert closed == response(part(0, b"".join(stored(cluster)), aborted_transactions=aborted, end=4))


@pytest.mark.parametrize("session", [(5, 1), (0, 1)])
def test_there_are_no_fetch_sessions(cluster: KafkaCluster, session: tuple[int, int]) -> None:
    first = request(0, session_id=0, session_epoch=0)
    later = request(0, session_id=session[0], session_epoch=session[1])
    assert asked(cluster.bootstrap_servers, first, later, version=12) == [
        response(part(0)),
        FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
    ]


async def waited(cluster: KafkaCluster, wanted: FetchRequest, change: Callable[[], object]) -> Any:
    """Return the response to a request that must wait until ``change`` is called."""
    async with await client(cluster.bootstrap_servers) as connection:
        sent = asyncio.create_task(connection.request(wanted, version=12))
        while not await asyncio.to_thread(lambda: log_of(cluster).waiting):
            assert not sent.done()
        await asyncio.to_thread(change)
        return await sent


def test_a_request_waits_for_records(cluster: KafkaCluster) -> None:
    def change() -> None:
        cluster.produce("orders", b"v", partition=1)

    answer = asyncio.run(waited(cluster, request(0, 0, max_wait_ms=LONG), change))
    assert answer == response(part(0), part(1, stored(cluster, 1)[0], end=1))
    assert not log_of(cluster).waiting


def test_a_request_waits_for_enough_bytes(cluster: KafkaCluster) -> None:
    def change() -> None:
        cluster.produce("orders", b"v", partition=0)
        cluster.produce("orders", b"v", partition=1)

    answer = asyncio.run(waited(cluster, request(0, 0, max_wait_ms=LONG, min_bytes=138), change))
    assert [len(each.records) for each in answer.responses[0].partitions] == [69, 69]


def test_a_request_waits_for_the_end_of_a_transaction(cluster: KafkaCluster) -> None:
    log_of(cluster).append(transactional(7, 0))

    def change() -> None:
        cluster._started().call(log_of(cluster).append_marker, 7, 0, True)

    answer = asyncio.run(waited(cluster, request(0, isolation_level=1, max_wait_ms=LONG), change))
    assert [len(each.records) for each in answer.responses[0].partitions] == [len(b"".join(stored(cluster)))]


def test_a_request_that_waits_sees_a_deleted_topic(cluster: KafkaCluster) -> None:
    def change() -> None:
        topics = cluster._state.topics
        cluster._started().call(topics.delete, topics.by_name["orders"])

    async def wait() -> Any:
        log = log_of(cluster)
        async with await client(cluster.bootstrap_servers) as connection:
            sent = asyncio.create_task(connection.request(request(0, max_wait_ms=LONG), version=12))
            while not log.waiting:
                await asyncio.sleep(0)
            change()
            return await sent

    nothing = failed(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, aborted_transactions=[])
    assert asyncio.run(wait()) == response(nothing)


def test_a_request_without_records_ends_after_its_time(cluster: KafkaCluster) -> None:
    [answer] = asked(cluster.bootstrap_servers, request(0, max_wait_ms=20), version=12)
    assert answer == response(part(0))
    assert not log_of(cluster).waiting


def test_a_client_that_disconnects_stops_waiting(cluster: KafkaCluster) -> None:
    async def leave() -> None:
        connection = await client(cluster.bootstrap_servers)
        sent = asyncio.create_task(connection.request(request(0, max_wait_ms=LONG), version=12))
        while not log_of(cluster).waiting:
            await asyncio.sleep(0)
        await connection.close()
        while log_of(cluster).waiting:
            await asyncio.sleep(0)
        with pytest.raises(ConnectionError):
            await sent

    asyncio.run(asyncio.wait_for(leave(), 10))


def test_leader_epochs_are_checked(cluster: KafkaCluster) -> None:
    cluster.move_leader("orders", 0, 1)
    wanted = [request(0, of_part={"current_leader_epoch": epoch}) for epoch in (-1, 0, 1, 2)]
    answers = asked(cluster.bootstrap_servers, *wanted, version=12)
    leader = FetchResponse.LeaderIdAndEpoch(leader_id=1, leader_epoch=1)
    assert answers == [
        response(part(0)),
        response(failed(0, ErrorCode.FENCED_LEADER_EPOCH, current_leader=leader)),
        response(part(0)),
        response(failed(0, ErrorCode.UNKNOWN_LEADER_EPOCH)),
    ]


def test_another_broker_names_the_leader() -> None:
    with KafkaCluster(2, topics={"orders": 1}) as cluster:
        cluster.move_leader("orders", 0, 2)
        id = cluster._state.topics.by_name["orders"].id
        [answer] = asked(cluster.bootstrap_servers, request(0, id=id), version=18)
        port = int(cluster.bootstrap_servers.rpartition(":")[2])
    leader = FetchResponse.LeaderIdAndEpoch(leader_id=2, leader_epoch=1)
    expected = response(failed(0, ErrorCode.NOT_LEADER_OR_FOLLOWER, current_leader=leader), id=id)
    expected.node_endpoints.append(FetchResponse.NodeEndpoint(node_id=2, host="127.0.0.1", port=port))
    assert answer == expected


def test_a_diverging_epoch_is_returned(cluster: KafkaCluster) -> None:
    cluster.produce("orders", b"v", partition=0)
    cluster.move_leader("orders", 0, 1)
    cluster.move_leader("orders", 0, 1)
    cluster.produce("orders", b"v", partition=0)
    wanted = [
        request(offset, of_part={"last_fetched_epoch": epoch}) for offset, epoch in ((1, 0), (2, 0), (1, 1), (1, 3))
    ]
    same, behind, gap, unknown = asked(cluster.bootstrap_servers, *wanted, version=12)
    epoch = FetchResponse.EpochEndOffset(epoch=0, end_offset=1)
    assert same == response(part(0, stored(cluster)[1], end=2))
    assert behind == gap == response(part(0, end=2, diverging_epoch=epoch))
    assert unknown == response(failed(0, ErrorCode.OFFSET_OUT_OF_RANGE))


def listed(*timestamps: int, epoch: int = -1, name: str = "orders", isolation_level: int = 0) -> ListOffsetsRequest:
    kind = ListOffsetsRequest.ListOffsetsPartition
    parts = [kind(partition_index=0, current_leader_epoch=epoch, timestamp=each) for each in timestamps]
    topic = ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=parts)
    return ListOffsetsRequest(replica_id=-1, isolation_level=isolation_level, topics=[topic])


def offsets(answer: Any) -> list[tuple[int, int, int, int]]:
    """Return error code, offset, timestamp and leader epoch of each partition."""
    parts = answer.responses if hasattr(answer, "responses") else answer.topics[0].partitions
    return [(each.error_code, each.offset, each.timestamp, each.leader_epoch) for each in parts]


def test_offsets_are_found_by_timestamp(cluster: KafkaCluster) -> None:
    for time in (10, 30, 20):
        cluster.produce("orders", b"v", partition=0, timestamp=time)
    cluster.move_leader("orders", 0, 1)
    [answer] = asked(cluster.bootstrap_servers, listed(-1, -2, -3, -4, -5, -6, 0, 11, 31))
    assert offsets(answer) == [
        (0, 3, -1, 1),
        (0, 0, -1, 0),
        (0, 1, 30, 0),
        (0, 0, -1, 0),
        (0, -1, -1, -1),
        (0, -1, -1, -1),
        (0, 0, 10, 0),
        (0, 1, 30, 0),
        (0, -1, -1, -1),
    ]


def test_special_timestamps_need_their_version(cluster: KafkaCluster) -> None:
    first = {-1: 1, -2: 1, -3: 7, -4: 8, -5: 9, -6: 11, -7: 99}
    for version in range(1, 12):
        [answer] = asked(cluster.bootstrap_servers, listed(*first), version=version)
        assert [each.error_code for each in answer.topics[0].partitions] == [
            0 if version >= since else ErrorCode.UNSUPPORTED_VERSION for since in first.values()
        ]


def test_read_committed_offsets_end_at_the_last_stable_offset(cluster: KafkaCluster) -> None:
    log_of(cluster).append(write_batch([Record(-1, 4, None, b"v")]))
    log_of(cluster).append(transactional(7, 0))
    [answer] = asked(cluster.bootstrap_servers, listed(-1, 4, 5, -3, isolation_level=1))
    assert offsets(answer) == [(0, 1, -1, 0), (0, 0, 4, 0), (0, -1, -1, -1), (0, -1, -1, -1)]


def test_offsets_of_version_0_are_those_of_segments() -> None:
    with KafkaCluster(topics={"orders": 1}, release="2.8") as cluster:
        wanted = listed(-1, -2, 5)
        for each in wanted.topics[0].partitions:
            each.max_num_offsets = 5
        [empty] = asked(cluster.bootstrap_servers, wanted, version=0)
        cluster.produce("orders", b"v")
        [answer] = asked(cluster.bootstrap_servers, wanted, version=0)
    assert [each.old_style_offsets for each in empty.topics[0].partitions] == [[0], [0], []]
    kind = ListOffsetsResponse.ListOffsetsPartitionResponse
    parts = [kind(partition_index=0, old_style_offsets=each) for each in ([1, 0], [0], [])]
    topic = ListOffsetsResponse.ListOffsetsTopicResponse(name="orders", partitions=parts)
    assert answer == ListOffsetsResponse(topics=[topic])


def test_offsets_of_another_epoch_or_topic_are_refused(cluster: KafkaCluster) -> None:
    unknown, future = asked(cluster.bootstrap_servers, listed(-1, name="other"), listed(-1, epoch=4), version=6)
    assert offsets(unknown) == [(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1)]
    assert offsets(future) == [(ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1, -1)]


def test_ends_of_leader_epochs_are_returned(cluster: KafkaCluster) -> None:
    cluster.produce("orders", b"v", partition=0)
    cluster.move_leader("orders", 0, 1)
    cluster.produce("orders", b"v", partition=0)
    kind = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
    places = [(0, -1, 0), (0, 1, 1), (0, -1, 2), (0, 0, 0), (2, -1, 0)]
    parts = [kind(partition=index, current_leader_epoch=now, leader_epoch=epoch) for index, now, epoch in places]
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="orders", partitions=parts)
    [answer] = asked(cluster.bootstrap_servers, OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]))
    found = OffsetForLeaderEpochResponse.EpochEndOffset
    unknown = partial(found, leader_epoch=-1, end_offset=-1)
    results = [
        found(partition=0, leader_epoch=0, end_offset=1),
        found(partition=0, leader_epoch=1, end_offset=2),
        unknown(partition=0),
        unknown(partition=0, error_code=ErrorCode.FENCED_LEADER_EPOCH),
        unknown(partition=2, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    made = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(topic="orders", partitions=results)
    assert answer == OffsetForLeaderEpochResponse(topics=[made])
