"""Requests with unannounced versions or invalid UTF-8, and very large ones."""

from __future__ import annotations

import socket

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    Message,
    MetadataRequest,
    MetadataResponse,
)
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import ApiKey, ErrorCode, decode_response, encode_request
from kafka_messages_testkit import KafkaCluster
from kafka_messages_testkit.broker import fetch

from tests.support.testkit_broker import asked


def answered(cluster: KafkaCluster, request: Message, version: int) -> bytes:
    """Return everything that the cluster sends after one request."""
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=5) as stream:
        stream.sendall(encode_request(request, version, 7))
        stream.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: stream.recv(65536), b""))


@pytest.mark.parametrize(("release", "version"), [("2.4", 12), (None, 3)])
def test_an_unannounced_version_closes_the_connection(
    release: str | None, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    with KafkaCluster(release=release) as cluster:
        assert answered(cluster, FetchRequest(), version) == b""
        assert cluster.exchanges() == []
    assert f"unsupported request at offset 0: FetchRequest v{version} is not announced" in caplog.text


def test_an_older_release_answers_newer_api_versions_requests_at_version_0() -> None:
    with KafkaCluster(release="2.3") as cluster:
        data = answered(cluster, ApiVersionsRequest(), 4)
    response = decode_response(data[4:], ApiVersionsResponse, 0)
    assert (response.header.correlation_id, response.message.error_code) == (7, ErrorCode.UNSUPPORTED_VERSION)
    assert {each.api_key: each.max_version for each in response.message.api_keys}[ApiKey.API_VERSIONS] == 2


def test_invalid_utf8_is_returned_unchanged() -> None:
    odd = "caf\udce9"
    requests = (
        MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=odd)]),
        FindCoordinatorRequest(coordinator_keys=[odd]),
    )
    with KafkaCluster() as cluster:
        connection = ClientConnection("\udce9", text="surrogateescape")
        metadata, found = asked(cluster.bootstrap_servers, *requests, connection=connection)
        port = int(cluster.bootstrap_servers.rpartition(":")[2])
        assert [each.client_id for each in cluster.exchanges(MetadataRequest)] == ["\udce9"]
    topic = MetadataResponse.MetadataResponseTopic(name=odd, error_code=ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert metadata.topics == [topic]
    coordinator = FindCoordinatorResponse.Coordinator(key=odd, node_id=1, host="127.0.0.1", port=port)
    assert found.coordinators == [coordinator]


def test_the_limit_of_the_broker_applies_to_every_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch._MAX_BYTES == 57_671_680
    with KafkaCluster(topics={"orders": 2}) as cluster:
        for index in (0, 1) * 2:
            cluster.produce("orders", b"v", partition=index)
        most = (1 << 31) - 1
        kind = FetchRequest.FetchPartition
        parts = [kind(partition=index, partition_max_bytes=most) for index in (0, 1)]
        request = FetchRequest(max_bytes=most, topics=[FetchRequest.FetchTopic(topic="orders", partitions=parts)])
        [whole] = asked(cluster.bootstrap_servers, request, version=12)
        sizes = [len(part.records) for part in whole.responses[0].partitions]
        monkeypatch.setattr(fetch, "_MAX_BYTES", sizes[0] + 1)
        [limited] = asked(cluster.bootstrap_servers, request, version=12)
    assert sizes == [138, 138]
    assert [len(part.records) for part in limited.responses[0].partitions] == [138, 0]
