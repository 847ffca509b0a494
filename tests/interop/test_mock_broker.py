"""The guide's mock broker with third-party clients; it announces current and older versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kafka_messages.aio import connect
from kafka_messages.enums import ErrorCode
from kafka_messages.protocol import ApiKey
from kafka_records import read_batches

from tests.interop.broker import Broker
from tests.interop.guide import looping, served
from tests.interop.peers import NAMES, PLAIN_AND_COMPRESSED, RECORDS, Peer, expected
from tests.interop.ranges import RELEASES, announced, announced_before_format_2
from tests.support.asking import OTHERWISE, REFUSED, produce
from tests.support.programs import program

mock = program("mock_broker")
guide = program("client")
BEFORE_ZSTD = ("none", "gzip", "snappy", "lz4")
"""Codecs of brokers before Kafka 2.1, which added zstd (KIP-110)."""


class Watched(mock.Broker):
    """The mock broker, which also collects the requested versions."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.asked: dict[ApiKey, set[int]] = {}

    async def response(self, received: Any) -> Any:
        self.asked.setdefault(received.api.key, set()).add(received.version)
        return await super().response(received)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", NAMES)
def test_clients_write_and_read_records_with_the_mock_broker(
    name: str, release: str, peer: Callable[[str], Peer], capfd: pytest.CaptureFixture[str]
) -> None:
    codecs = BEFORE_ZSTD if release == "1.0.0" else PLAIN_AND_COMPRESSED
    ours = announced(mock.SERVED, release)
    brokers: list[Watched] = []

    def make(port: int) -> Any:
        brokers.append(Watched("127.0.0.1", port, ours))
        return brokers[0].serve

    client = peer(name)
    capfd.readouterr()
    with served(make) as port:
        talk = client.talk(port, "talk", codecs)
    (broker,) = brokers
    assert capfd.readouterr().out == ""
    want = expected("talk", codecs)
    assert talk.records == want
    assert talk.committed == dict.fromkeys(want, RECORDS)
    assert talk.topics == sorted(want)
    for topic, rows in want.items():
        batches = list(read_batches(b"".join(data for _, data in broker.logs[topic].batches)))
        assert {batch.compression for batch in batches} == {topic.removeprefix("talk-")}
        assert sum(len(batch.records()) for batch in batches) == len(rows)
    ranges = {each.api_key: range(each.min_version, each.max_version + 1) for each in ours.api_keys}
    known = {key: versions for key, versions in broker.asked.items() if key != ApiKey.API_VERSIONS}
    assert all(version in ranges[key] for key, versions in known.items() for version in versions)
    if release == "1.0.0":  # the highest versions: all clients support later ones
        assert {key: broker.asked[key] for key in (ApiKey.PRODUCE, ApiKey.FETCH)} == {
            ApiKey.PRODUCE: {5},
            ApiKey.FETCH: {6},
        }
    assert {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.JOIN_GROUP, ApiKey.OFFSET_COMMIT, ApiKey.METADATA} <= known.keys()


@pytest.mark.parametrize("name", ["kafka-python", "aiokafka", "franz-go"])
def test_clients_work_with_versions_from_before_message_format_2(
    name: str, peer: Callable[[str], Peer], capfd: pytest.CaptureFixture[str]
) -> None:
    brokers: list[Watched] = []

    def make(port: int) -> Any:
        brokers.append(Watched("127.0.0.1", port, announced_before_format_2()))
        return brokers[0].serve

    client = peer(name)
    capfd.readouterr()
    with served(make) as port:
        talk = client.talk(port, "old", BEFORE_ZSTD)
    (broker,) = brokers
    assert capfd.readouterr().out == ""
    want = expected("old", BEFORE_ZSTD)
    assert talk.records == want
    if name != "franz-go":  # it requests all offsets, which OffsetFetch 1 does not support
        assert talk.committed == dict.fromkeys(want, RECORDS)
    assert talk.topics == sorted(want)
    assert [broker.asked[key] for key in (ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS)] == [{2}, {2}, {0}]
    stored = [
        batch for log in broker.logs.values() for batch in read_batches(b"".join(data for _, data in log.batches))
    ]
    assert {(batch.magic, batch.compression) for batch in stored} == {(2, "none")}


def test_live_broker_rejects_the_same_batches_as_the_mock_broker(quiet_broker: Broker) -> None:
    async def codes() -> dict[str, str]:
        async with await connect("localhost", quiet_broker.port) as client:
            await guide.find_leader(client, "refused")
            found = {}
            for name in REFUSED.keys() - {"null"}:
                records, _ = REFUSED[name]
                [topic] = (await client.request(produce(records, name="refused"), 12)).responses
                found[name] = ErrorCode(topic.partition_responses[0].error_code).name
            return found

    with looping() as loop:
        found = loop.run(codes)
    assert found | {"null": None} == {name: code for name, (_, code) in REFUSED.items()} | OTHERWISE
