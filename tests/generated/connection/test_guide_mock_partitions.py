"""Partitions, batches and response sizes of the mock broker of the guide."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kafka_messages import (
    FetchRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
)
from kafka_messages.connection import announce
from kafka_messages.protocol import encode_request
from kafka_records import Record, read_batches, write_batch

from tests.support.asking import BATCH, REFUSED, UNKNOWN, ask, error_codes, fetch, list_offsets, produce, summed, topics
from tests.support.programs import program

guide = program("mock_broker")
SECONDS = 60
RECORDS = [Record(offset, 1_700_000_000_000, b"k", b"v%d" % offset, (("h", b"x"),)) for offset in range(3)]


@pytest.fixture
def broker() -> Any:
    made = guide.Broker("127.0.0.1", 9092)
    ask(made, topics("t"))
    return made


@pytest.fixture
def old_broker(broker: Any) -> Any:
    broker.announced = announce(release="2.2")
    return broker


def test_metadata_reports_unknown_topics(broker: Any) -> None:
    asked = topics("t", "missing")
    asked.allow_auto_topic_creation = False
    [response] = ask(broker, asked)
    assert [(each.host, each.port) for each in response.brokers] == [("127.0.0.1", 9092)]
    assert [(each.name, len(each.partitions)) for each in response.topics] == [("t", 1), ("missing", 0)]
    assert error_codes(response) == [("topics[1].error_code", "UNKNOWN_TOPIC_OR_PARTITION")]
    by_id = [
        MetadataRequest.MetadataRequestTopic(topic_id=topic_id, name=None)
        for topic_id in (UNKNOWN, broker.logs["t"].id)
    ]
    [response] = ask(broker, MetadataRequest(topics=by_id))
    assert [(each.name, each.topic_id) for each in response.topics] == [(None, UNKNOWN), ("t", broker.logs["t"].id)]
    assert error_codes(response) == [("topics[0].error_code", "UNKNOWN_TOPIC_ID")]


def test_produce_reports_unknown_partitions(broker: Any) -> None:
    asked = produce(BATCH, indexes=(0, 5))
    asked.topic_data += produce(BATCH, name="missing").topic_data
    [response] = ask(broker, asked, version=12)
    found = [part.base_offset for topic in response.responses for part in topic.partition_responses]
    assert found == [0, -1, -1]
    assert error_codes(response) == [
        ("responses[0].partition_responses[1].error_code", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("responses[1].partition_responses[0].error_code", "UNKNOWN_TOPIC_OR_PARTITION"),
    ]
    assert broker.logs["t"].end == 2


def test_fetch_reports_unknown_partitions(broker: Any) -> None:
    ask(broker, produce(BATCH), version=12)
    [response] = ask(broker, fetch(0, indexes=(0, 5)), version=12)
    here, missing = response.responses[0].partitions
    assert (here.high_watermark, len(here.records), missing.high_watermark, missing.records) == (2, len(BATCH), -1, b"")
    assert error_codes(response) == [("responses[0].partitions[1].error_code", "UNKNOWN_TOPIC_OR_PARTITION")]


def test_list_offsets_reports_unknown_partitions(broker: Any) -> None:
    ask(broker, produce(BATCH), version=12)
    [response] = ask(broker, list_offsets(-1, -1))
    assert [part.offset for part in response.topics[0].partitions] == [2, -1]
    assert error_codes(response) == [("topics[0].partitions[1].error_code", "UNKNOWN_TOPIC_OR_PARTITION")]


def test_offset_commit_and_fetch_report_unknown_partitions(broker: Any) -> None:
    part = OffsetCommitRequest.OffsetCommitRequestPartition
    parts = [part(partition_index=index, committed_offset=5) for index in (0, 5)]
    ids = (broker.logs["t"].id, UNKNOWN)
    asked = [OffsetCommitRequest.OffsetCommitRequestTopic(topic_id=each, partitions=parts) for each in ids]
    [response] = ask(broker, OffsetCommitRequest(group_id="g", topics=asked), version=10)
    assert error_codes(response) == [
        ("topics[0].partitions[1].error_code", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("topics[1].partitions[0].error_code", "UNKNOWN_TOPIC_ID"),
        ("topics[1].partitions[1].error_code", "UNKNOWN_TOPIC_ID"),
    ]
    assert broker.committed == {"g": {"t": {0: 5}}}
    kind = OffsetFetchRequest.OffsetFetchRequestTopics
    group = OffsetFetchRequest.OffsetFetchRequestGroup(
        group_id="g", topics=[kind(topic_id=each, partition_indexes=[0]) for each in ids]
    )
    [response] = ask(broker, OffsetFetchRequest(groups=[group]), version=10)
    assert [part.committed_offset for topic in response.groups[0].topics for part in topic.partitions] == [5, -1]
    assert error_codes(response) == [("groups[0].topics[1].partitions[0].error_code", "UNKNOWN_TOPIC_ID")]


@pytest.mark.parametrize(("records", "code"), REFUSED.values(), ids=REFUSED)
def test_invalid_batches_are_rejected(broker: Any, records: bytes | None, code: str) -> None:
    [refused] = ask(broker, produce(records), version=12)
    assert error_codes(refused) == [("responses[0].partition_responses[0].error_code", code)]
    assert (broker.logs["t"].end, broker.logs["t"].batches) == (0, [])


def test_batch_with_valid_checksum_is_accepted(broker: Any) -> None:
    [taken] = ask(broker, produce(summed(0, 1)), version=12)
    assert error_codes(taken) == []


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (18, 2)])
def test_fetched_batches_have_the_magic_of_the_fetch_version(old_broker: Any, version: int, magic: int) -> None:
    if version > 4:
        old_broker.announced = announce()
    ask(old_broker, produce(write_batch(RECORDS, compression="gzip")), produce(write_batch(RECORDS)), version=7)
    [response] = ask(old_broker, fetch(1, topic_id=old_broker.logs["t"].id, most=1 << 20), version=version)
    batches = list(read_batches(response.responses[0].partitions[0].records))
    assert {batch.magic for batch in batches} == {magic}
    found = [record for batch in batches for record in batch.records()]
    assert [record.offset for record in found] == [0, 1, 2, 3, 4, 5]
    wanted = [record._replace(headers=()) if magic < 2 else record for record in RECORDS]
    wanted = [record._replace(timestamp=-1) for record in wanted] if magic == 0 else wanted
    assert [record._replace(offset=number % 3) for number, record in enumerate(found)] == wanted * 2


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1)])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_old_formats_are_converted_to_magic_2(old_broker: Any, version: int, magic: int, compression: str) -> None:
    plain = [record._replace(headers=()) for record in RECORDS]
    data = write_batch(plain, magic=magic, compression=compression)
    first, second = ask(old_broker, produce(data), produce(data), version=version)
    assert [each.responses[0].partition_responses[0].base_offset for each in (first, second)] == [0, 3]
    stored = list(read_batches(b"".join(batch for _, batch in old_broker.logs["t"].batches)))
    assert [(batch.magic, batch.base_offset, batch.count) for batch in stored] == [(2, 0, 3), (2, 3, 3)]
    assert [record.value for batch in stored for record in batch.records()] == [b"v0", b"v1", b"v2"] * 2
    [refused] = ask(old_broker, produce(data[:-1]), version=version)
    assert error_codes(refused) == [("responses[0].partition_responses[0].error_code", "INVALID_RECORD")]


def test_list_offsets_v0_returns_old_style_offsets(old_broker: Any) -> None:
    ask(old_broker, produce(BATCH), version=7)
    latest, earliest, none = ask(
        old_broker, list_offsets(-1), list_offsets(-2), list_offsets(-1, max_num_offsets=0), version=0
    )
    found = [each.topics[0].partitions[0].old_style_offsets for each in (latest, earliest, none)]
    assert found == [[2], [0], []]
    assert [error_codes(each) for each in (latest, earliest, none)] == [[], [], []]


def test_fetch_max_bytes_limits_the_response(broker: Any) -> None:
    ask(broker, produce(BATCH), produce(BATCH), version=12)
    size = len(BATCH)
    allowed = [(1, 1), (size, 1), (2 * size, 2), (3 * size - 1, 2), (3 * size, 3), (0, 1)]
    for max_bytes, batches in allowed:
        [response] = ask(broker, fetch(0, most=1 << 20, indexes=(0,) * 5, max_bytes=max_bytes), version=12)
        lengths = [len(part.records) for part in response.responses[0].partitions]
        assert sum(lengths) == batches * size, max_bytes
    [response] = ask(broker, fetch(0, most=1, indexes=(0,) * 5), version=12)
    assert [len(part.records) for part in response.responses[0].partitions] == [size, 0, 0, 0, 0]


def test_broker_limit_applies_to_every_fetch(broker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guide.MAX_FETCH_BYTES == 57_671_680
    monkeypatch.setattr(guide, "MAX_FETCH_BYTES", 2 * len(BATCH))
    ask(broker, produce(BATCH), version=12)
    [response] = ask(broker, fetch(0, most=2**31 - 1, indexes=(0,) * 5, max_bytes=2**31 - 1), version=12)
    assert sum(len(part.records) for part in response.responses[0].partitions) == 2 * len(BATCH)


def test_broker_applies_backpressure_to_slow_clients(broker: Any) -> None:
    ask(broker, produce(write_batch([Record(value=bytes(1 << 20))])), version=12)
    request = encode_request(fetch(0).downgraded(12), 12, 1)
    count = 500

    async def talk() -> int:
        async with await asyncio.start_server(broker.serve, "127.0.0.1", 0) as server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(request * count)
            answered = -1
            while answered != broker.answered:  # until it is idle
                answered = broker.answered
                await asyncio.sleep(0.2)
            writer.transport.abort()
            return answered

    class Counting(guide.Broker):
        answered = 0

        async def response(self, received: Any) -> Any:
            self.answered += 1
            return await super().response(received)

    broker.__class__ = Counting
    assert 0 < asyncio.run(asyncio.wait_for(talk(), SECONDS)) < count // 5


def test_empty_requests_return_no_errors(broker: Any) -> None:
    empty = (ProduceRequest(acks=-1), FetchRequest(), OffsetCommitRequest(group_id="g"), OffsetFetchRequest(groups=[]))
    assert [error_codes(each) for each in ask(broker, *empty)] == [[], [], [], []]
