"""The test kit's cluster with third-party clients; it announces current and older versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import pytest
from kafka_messages import ApiVersionsResponse
from kafka_messages.aio import connect
from kafka_messages.enums import ErrorCode
from kafka_messages.protocol import ApiKey, api
from kafka_messages_testkit import KafkaCluster
from kafka_records import Batch

from tests.interop.broker import Broker
from tests.interop.guide import looping
from tests.interop.peers import NAMES, PLAIN_AND_COMPRESSED, RECORDS, Peer, Talk, expected
from tests.interop.ranges import RELEASES, announced, announced_before_format_2
from tests.support.invalid_batches import INVALID_BATCHES, TRAILING, produce
from tests.support.programs import program

guide = program("client")
BEFORE_ZSTD = ("none", "gzip", "snappy", "lz4")
"""Codecs of brokers before Kafka 2.1, which added zstd (KIP-110)."""


class Announcing(KafkaCluster):
    """Cluster that announces other versions, with a topic of one partition for each codec."""

    def __init__(self, versions: ApiVersionsResponse, codecs: Sequence[str]) -> None:
        super().__init__(topics={f"talk-{codec}": 1 for codec in codecs})
        self._announced, self.codecs = versions, codecs

    def talk(self, client: Peer) -> Talk:
        return client.talk(int(self.bootstrap_servers.rpartition(":")[2]), "talk", self.codecs)

    def stored(self, topic: str) -> list[Batch]:
        return self._state.log(topic, 0).batches

    @property
    def versions(self) -> dict[ApiKey, set[int]]:
        """The requested versions, without ApiVersions."""
        found: dict[ApiKey, set[int]] = defaultdict(set)
        for each in self.exchanges():
            found[api(type(each.request)).key].add(each.version)
        return {key: versions for key, versions in found.items() if key != ApiKey.API_VERSIONS}


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.message for each in caplog.records if each.name.startswith("kafka_messages")]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", NAMES)
def test_clients_write_and_read_records_with_the_cluster(
    name: str, release: str, peer: Callable[[str], Peer], caplog: pytest.LogCaptureFixture
) -> None:
    codecs = BEFORE_ZSTD if release == "1.0.0" else PLAIN_AND_COMPRESSED
    ours, client, want = announced(release), peer(name), expected("talk", codecs)
    with Announcing(ours, codecs) as cluster:
        talk = cluster.talk(client)
        stored = {topic: cluster.stored(topic) for topic in want}
        committed, used = cluster.committed("talk-group"), cluster.versions
    print(name, release, {key.name: sorted(versions) for key, versions in used.items()})
    assert warnings(caplog) == []
    assert talk == Talk(sorted(want), want, dict.fromkeys(want, RECORDS))
    assert committed == {(topic, 0): RECORDS for topic in want}
    for topic, batches in stored.items():
        assert {batch.compression for batch in batches} == {topic.removeprefix("talk-")}
        assert sum(len(batch.records()) for batch in batches) == RECORDS
    ranges = {each.api_key: range(each.min_version, each.max_version + 1) for each in ours.api_keys}
    assert all(version in ranges[key] for key, versions in used.items() for version in versions)
    if release == "1.0.0":  # the highest versions: all clients support later ones
        assert (used[ApiKey.PRODUCE], used[ApiKey.FETCH]) == ({5}, {6})
    assert {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.JOIN_GROUP, ApiKey.OFFSET_COMMIT, ApiKey.METADATA} <= used.keys()


@pytest.mark.parametrize("name", ["kafka-python", "aiokafka", "franz-go"])
def test_clients_work_with_versions_from_before_message_format_2(
    name: str, peer: Callable[[str], Peer], caplog: pytest.LogCaptureFixture
) -> None:
    client, want = peer(name), expected("talk", BEFORE_ZSTD)
    with Announcing(announced_before_format_2(), BEFORE_ZSTD) as cluster:
        talk = cluster.talk(client)
        stored = {(batch.magic, batch.compression) for topic in want for batch in cluster.stored(topic)}
        used = cluster.versions
    assert warnings(caplog) == []
    assert talk.records == want
    if name != "franz-go":  # it requests all offsets, which OffsetFetch 1 does not support
        assert talk.committed == dict.fromkeys(want, RECORDS)
    assert talk.topics == sorted(want)
    assert [used[key] for key in (ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS)] == [{2}, {2}, {0}]
    assert stored == {(2, "none")}


def test_live_broker_rejects_the_same_batches_as_the_cluster(quiet_broker: Broker) -> None:
    cases = INVALID_BATCHES | {"trailing byte": (TRAILING, ErrorCode.NONE)}

    async def codes() -> dict[str, ErrorCode]:
        async with await connect("localhost", quiet_broker.port) as client:
            await guide.find_leader(client, "refused")
            found = {}
            for name, (records, _) in cases.items():
                [topic] = (await client.request(produce(records, "refused"), 12)).responses
                found[name] = ErrorCode(topic.partition_responses[0].error_code)
            return found

    with looping() as loop:
        assert loop.run(codes) == {name: code for name, (_, code) in cases.items()}
