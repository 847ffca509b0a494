"""Requests with unannounced versions or invalid UTF-8, and very large ones."""

from __future__ import annotations

import socket

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    DescribeGroupsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    MetadataRequest,
    MetadataResponse,
    Request,
)
from kafka_messages.connection import ClientConnection
from kafka_messages.protocol import ApiKey, ErrorCode, decode_response, encode_request
from kafka_messages_testkit import KafkaCluster, KafkaProxy

from tests.support.testkit_broker import asked


def answered(cluster: KafkaCluster, request: Request, version: int) -> bytes:
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


def test_the_limit_of_the_broker_applies_to_every_fetch() -> None:
    """A response has at most 55 MiB, as Kafka's ``fetch.max.bytes``, besides its first batch."""
    limit = 57_671_680
    with KafkaCluster(topics={"orders": 2}) as cluster:
        for index in (0, 1) * 30:
            cluster.produce("orders", bytes(1_000_000), partition=index)
        most = (1 << 31) - 1
        kind = FetchRequest.FetchPartition
        parts = [kind(partition=index, partition_max_bytes=most) for index in (0, 1)]
        request = FetchRequest(max_bytes=most, topics=[FetchRequest.FetchTopic(topic="orders", partitions=parts)])
        [limited] = asked(cluster.bootstrap_servers, request, version=12)
        sizes = [len(part.records) for part in limited.responses[0].partitions]
    batch = sizes[0] // 30
    assert batch > 1_000_000
    assert sizes == [30 * batch, (limit - 30 * batch) // batch * batch]


def test_a_request_cannot_create_any_number_of_partitions() -> None:
    kind = CreateTopicsRequest
    topics = [
        kind.CreatableTopic(name="a", num_partitions=(1 << 31) - 1, replication_factor=1),
        kind.CreatableTopic(name="b", num_partitions=1, replication_factor=1),
    ]
    with KafkaCluster() as cluster:
        [response] = asked(cluster.bootstrap_servers, kind(topics=topics))
        [metadata] = asked(cluster.bootstrap_servers, MetadataRequest(topics=None))
    assert [each.error_code for each in response.topics] == [ErrorCode.POLICY_VIOLATION] * 2
    assert metadata.topics == []


def heartbeat(**fields: object) -> ConsumerGroupHeartbeatRequest:
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", rebalance_timeout_ms=1000, topic_partitions=[], subscribed_topic_names=[]
    )
    for name, value in fields.items():
        setattr(request, name, value)
    return request


@pytest.mark.parametrize("pattern", ["(", "a{99999999999999999999}", "(" * 2000 + ")" * 2000])
def test_any_invalid_pattern_of_topics_is_refused(pattern: str) -> None:
    with KafkaCluster() as cluster:
        [response] = asked(cluster.bootstrap_servers, heartbeat(subscribed_topic_regex=pattern))
    assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_names_of_any_length_fit_in_error_messages() -> None:
    name = "x" * 32_767
    requests = heartbeat(member_id=name, member_epoch=5), DescribeGroupsRequest(groups=[name])
    with KafkaCluster() as cluster:
        cluster.commit("g", {})
        found, described = asked(cluster.bootstrap_servers, *requests)
    assert found.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.groups[0].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.groups[0].group_id == name


def test_a_proxy_accepts_repeated_correlation_ids() -> None:
    with KafkaCluster() as cluster, KafkaProxy(cluster.bootstrap_servers) as proxy:
        host, _, port = proxy.bootstrap_servers.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=5) as stream:
            stream.sendall(encode_request(HeartbeatRequest(), 4, 7) * 3)
            stream.shutdown(socket.SHUT_WR)
            data = b"".join(iter(lambda: stream.recv(65536), b""))
        assert len(data) == 3 * 16
        codes = [each.response.error_code for each in proxy.exchanges()]
    assert codes == [ErrorCode.INVALID_GROUP_ID] * 3
