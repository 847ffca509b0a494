"""A live broker of Kafka 2.8 and clients of that release; the current package decodes their traffic."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka_messages.protocol import ApiKey, api, apis, decode_request, decode_response

from tests.interop import old
from tests.interop.broker import Broker
from tests.interop.kafka import Java
from tests.interop.make import WORK
from tests.interop.peers import PLAIN_AND_COMPRESSED, RECORDS, Peer, expected, peer
from tests.interop.test_proxy import watching


@pytest.fixture(scope="module")
def java() -> Java:
    return old.prepare(WORK)


@pytest.fixture(scope="module")
def broker(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with old.running(java, tmp_path_factory.mktemp("old")) as made:
        yield made


def test_requests_and_responses_of_the_old_broker_round_trip(broker: Broker) -> None:
    older = 0
    for sent, answered in old.exchanges(broker.port):
        request = decode_request(sent)
        key, version = request.api.key, request.version
        assert request.encode(framed=False) == sent
        assert decode_response(answered, key, version).encode(framed=False) == answered, (key, version)
        older += version not in api(key).supported_versions
    assert older >= 50


@pytest.mark.parametrize("release", ["old", "newest"])
def test_old_and_new_clients_work_through_the_proxy_to_an_old_broker(release: str, broker: Broker, java: Java) -> None:
    client: Peer = old.client(java) if release == "old" else peer("java")
    with watching(broker, decode=apis()) as (
        port,
        watched,
    ):  # each message is decoded, and re-encodes to the same bytes
        talk = client.talk(port, f"through-{release}", PLAIN_AND_COMPRESSED)
    want = expected(f"through-{release}", PLAIN_AND_COMPRESSED)
    assert talk.records == want
    assert talk.committed == dict.fromkeys(want, RECORDS)
    assert {ApiKey.METADATA, ApiKey.FIND_COORDINATOR} <= watched.changed
    assert {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_COMMIT} <= watched.asked - watched.changed
