"""Produce, with versions, acks and errors; records of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import ProduceRequest, ProduceResponse
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster
from kafka_messages_testkit.state.partitioner import murmur2
from kafka_records import Record, write_batch

from tests.support.testkit_broker import asked, client

PAID = write_batch([Record(-1, 5, b"order", b"paid", (("trace", b"1"),))])


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(2, topics={"orders": 2}, seed=1) as made:
        yield made


def request(
    records: bytes | None = PAID, *, index: int = 0, name: str = "orders", id: UUID | None = None, **fields: Any
) -> ProduceRequest:
    part = ProduceRequest.PartitionProduceData(index=index, records=records)
    topic = ProduceRequest.TopicProduceData(name=name, partition_data=[part])
    if id is not None:
        topic.name, topic.topic_id = "", id
    return ProduceRequest(**{"acks": -1, "timeout_ms": 1000} | fields, topic_data=[topic])


def response(name: str = "orders", id: UUID | None = None, **fields: Any) -> ProduceResponse:
    part = ProduceResponse.PartitionProduceResponse(**{"base_offset": -1} | fields)
    topic = ProduceResponse.TopicProduceResponse(name=name, partition_responses=[part])
    if id is not None:
        topic.name, topic.topic_id = "", id
    return ProduceResponse(responses=[topic])


def leaders(cluster: KafkaCluster) -> list[int]:
    return [log.leader for log in cluster._state.topics.by_name["orders"].partitions]


def ports(cluster: KafkaCluster) -> list[str]:
    return cluster.bootstrap_servers.split(",")


def at_leader(cluster: KafkaCluster, *requests: Any, index: int = 0, version: int | None = None) -> list[Any]:
    return asked(ports(cluster)[leaders(cluster)[index] - 1], *requests, version=version)


@pytest.mark.parametrize("version", range(3, 13))
def test_records_are_appended(cluster: KafkaCluster, version: int) -> None:
    first, second = at_leader(cluster, request(), request(), version=version)
    start = 0 if version >= 5 else -1
    assert first == response(base_offset=0, log_start_offset=start)
    assert second == response(base_offset=1, log_start_offset=start)
    kept = Record(0, 5, b"order", b"paid", (("trace", b"1"),))
    assert cluster.records("orders") == [kept, kept._replace(offset=1)]


@pytest.mark.parametrize("version", range(3))
def test_older_formats_are_converted(version: int) -> None:
    old = write_batch([Record(-1, 5, b"k", b"a"), Record(-1, 6, None, b"b")], magic=min(version, 1))
    with KafkaCluster(topics={"orders": 1}, release="2.8") as cluster:
        [answer] = asked(cluster.bootstrap_servers, request(old), version=version)
        assert answer == response(base_offset=0)
        times = (5, 6) if version else (-1, -1)
        assert cluster.records("orders") == [Record(0, times[0], b"k", b"a"), Record(1, times[1], None, b"b")]


def test_topics_have_ids_in_version_13(cluster: KafkaCluster) -> None:
    known, unknown, zero = cluster._state.topics.by_name["orders"].id, UUID(int=9), UUID(int=0)
    answers = at_leader(cluster, *(request(id=each) for each in (known, unknown, zero)), version=13)
    assert answers == [
        response(id=known, base_offset=0, log_start_offset=0),
        response(id=unknown, error_code=ErrorCode.UNKNOWN_TOPIC_ID),
        response(id=zero, error_code=ErrorCode.UNKNOWN_TOPIC_ID),
    ]


def test_each_partition_has_its_own_result(cluster: KafkaCluster) -> None:
    cluster.move_leader("orders", 0, 1)
    cluster.move_leader("orders", 1, 1)
    both = request()
    both.topic_data[0].partition_data += [
        ProduceRequest.PartitionProduceData(index=index, records=PAID) for index in (1, 2)
    ]
    [answer] = asked(cluster.bootstrap_servers, both, version=12)
    kind = ProduceResponse.PartitionProduceResponse
    assert answer.responses[0].partition_responses == [
        kind(index=0, base_offset=0, log_start_offset=0),
        kind(index=1, base_offset=0, log_start_offset=0),
        kind(index=2, base_offset=-1, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_another_broker_names_the_leader(cluster: KafkaCluster) -> None:
    cluster.move_leader("orders", 0, 2)
    [new, old] = [asked(ports(cluster)[0], request(), version=version)[0] for version in (12, 9)]
    expected = response(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert old == expected
    leader = ProduceResponse.LeaderIdAndEpoch(leader_id=2, leader_epoch=1)
    expected.responses[0].partition_responses[0].current_leader = leader
    port = int(ports(cluster)[1].rpartition(":")[2])
    expected.node_endpoints.append(ProduceResponse.NodeEndpoint(node_id=2, host="127.0.0.1", port=port))
    assert new == expected


ZSTD = write_batch([Record(-1, 5, None, b"")], compression="zstd")
TRANSACTIONAL = write_batch(
    [Record(-1, 5, None, b"")], producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True
)
REFUSED = {
    "no records": (request(None), 9, ErrorCode.INVALID_RECORD, -1),
    "two batches": (request(PAID * 2), 9, ErrorCode.INVALID_RECORD, -1),
    "truncated": (request(PAID[:-1]), 9, ErrorCode.INVALID_RECORD, -1),
    "old format": (request(write_batch([Record(value=b"")], magic=1)), 9, ErrorCode.INVALID_RECORD, -1),
    "damaged": (request(PAID[:-1] + b"\x00"), 9, ErrorCode.CORRUPT_MESSAGE, -1),
    "zstd": (request(ZSTD), 6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, -1),
    "acks": (request(acks=2), 9, ErrorCode.INVALID_REQUIRED_ACKS, -1),
    "topic": (request(name="other"), 9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
    "transaction": (request(TRANSACTIONAL), 9, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_requests_are_refused(cluster: KafkaCluster, name: str) -> None:
    wanted, version, code, start = REFUSED[name]
    [answer] = at_leader(cluster, wanted, version=version)
    assert answer == response(wanted.topic_data[0].name, error_code=code, log_start_offset=start)
    assert cluster.records("orders") == []


def test_records_with_a_future_timestamp_are_named(cluster: KafkaCluster) -> None:
    records = [Record(-1, time, None, b"") for time in (1, 1 << 60, 2, 1 << 61)]
    [answer] = at_leader(cluster, request(write_batch(records)), version=9)
    [part] = answer.responses[0].partition_responses
    assert (part.error_code, part.log_start_offset) == (ErrorCode.INVALID_TIMESTAMP, 0)
    assert part.error_message == "One or more records have been rejected due to invalid timestamp"
    assert [each.batch_index for each in part.record_errors] == [1, 3]


def test_a_batch_sent_again_has_its_first_offset(cluster: KafkaCluster) -> None:
    data = write_batch([Record(-1, 5, None, b"a")], producer_id=4, producer_epoch=0, base_sequence=0)
    later = write_batch([Record(-1, 6, None, b"b")], producer_id=4, producer_epoch=0, base_sequence=2)
    first, again, gap = at_leader(cluster, request(data), request(data), request(later), version=9)
    assert first == response(base_offset=0, log_start_offset=0)
    assert again == response(base_offset=0, log_start_offset=0, log_append_time_ms=5)
    assert gap == response(error_code=ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, log_start_offset=0)


def sent_without_acks(address: str, *requests: ProduceRequest) -> Exception | None:
    """Send requests that have no response, then one that has; return its error."""

    async def send() -> Exception | None:
        async with await client(address) as connection:
            try:
                for each in requests:
                    await connection.send(each, version=9)
                await connection.request(request(acks=1), version=9)
            except (ConnectionError, EOFError, ValueError) as error:
                return error
        return None

    return asyncio.run(send())


def test_acks_0_has_no_response(cluster: KafkaCluster) -> None:
    address = ports(cluster)[leaders(cluster)[0] - 1]
    assert sent_without_acks(address, request(acks=0), request(acks=0)) is None
    assert [each.offset for each in cluster.records("orders")] == [0, 1, 2]


def test_a_failure_with_acks_0_closes_the_connection(cluster: KafkaCluster) -> None:
    address = ports(cluster)[leaders(cluster)[0] - 1]
    assert sent_without_acks(address, request(acks=0, index=7)) is not None
    assert cluster.records("orders") == []


def test_internal_topics_are_for_admin_clients() -> None:
    with KafkaCluster(topics={"__consumer_offsets": 1}) as cluster:
        wanted = request(name="__consumer_offsets")
        [refused] = asked(cluster.bootstrap_servers, wanted, version=9)
        [taken] = asked(
            cluster.bootstrap_servers, wanted, version=9, connection=ClientConnection(client_id="__admin_client")
        )
    assert refused == response("__consumer_offsets", error_code=ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert taken == response("__consumer_offsets", base_offset=0, log_start_offset=0)


def test_a_test_appends_records(cluster: KafkaCluster) -> None:
    assert cluster.produce("orders", b"paid", key=b"a", partition=1, headers=[("trace", b"1")], timestamp=5) == 0
    assert cluster.produce("orders", None, partition=1) == 1
    first, second = cluster.records("orders", 1)
    assert first == Record(0, 5, b"a", b"paid", (("trace", b"1"),))
    assert (second.offset, second.key, second.value, second.headers) == (1, None, None, ())
    assert second.timestamp > 1_700_000_000_000
    assert cluster.records("orders", 0) == []
    assert cluster.records("orders") == [first, second]


def test_records_without_a_key_go_to_the_partitions_in_turn(cluster: KafkaCluster) -> None:
    assert [cluster.produce("orders", b"%d" % number) for number in range(5)] == [0, 0, 1, 1, 2]
    assert [each.value for each in cluster.records("orders", 0)] == [b"0", b"2", b"4"]


# From Kafka's UtilsTest.
HASHES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", HASHES)
def test_keys_are_hashed_as_in_kafka(key: bytes) -> None:
    assert murmur2(key) == HASHES[key] % (1 << 32)


def test_records_with_the_same_key_go_to_one_partition(cluster: KafkaCluster) -> None:
    for _ in range(3):
        cluster.produce("orders", b"", key=b"21")
    assert [len(cluster.records("orders", each)) for each in (0, 1)] == [3, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda cluster: cluster.produce("other", b""), "topic 'other' does not exist"),
        (lambda cluster: cluster.produce("orders", b"", partition=2), "partition must be from 0 to 1"),
        (lambda cluster: cluster.produce("orders", 5), "value: expected bytes or None"),
        (lambda cluster: cluster.produce("orders", b"", key="a", partition=0), "key: expected bytes or None"),
        (lambda cluster: cluster.produce("orders", b"", timestamp=1 << 62), "invalid timestamp"),
        (lambda cluster: cluster.records("other"), "topic 'other' does not exist"),
        (lambda cluster: cluster.records("orders", -1), "partition must be from 0 to 1"),
        (lambda cluster: cluster.move_leader("orders", 0, 3), "broker 3 is not running"),
        (lambda cluster: cluster.move_leader("orders", 5, 1), "partition must be from 0 to 1"),
    ],
)
def test_invalid_arguments_are_refused(cluster: KafkaCluster, call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(cluster)
    assert cluster.records("orders") == []
