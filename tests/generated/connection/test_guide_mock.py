"""Invalid requests to the mock broker of the guide."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeConfigsRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from kafka_messages.connection import announce
from kafka_messages.enums import ErrorCode
from kafka_messages.protocol import ApiKey, Versions, decode_response, encode_request

from tests.support.asking import BATCH, UNKNOWN, ask, error_codes, fetch, list_offsets, produce, topics
from tests.support.programs import program

guide = program("mock_broker")
SECONDS = 20


class Faulty(guide.Broker):
    def metadata(self, asked: MetadataRequest, version: int) -> Any:
        if asked.topics and asked.topics[0].name == "fault":
            raise LookupError("a fault")
        return super().metadata(asked, version)


@pytest.fixture
def broker() -> Any:
    return Faulty("127.0.0.1", 9092)


def test_mock_exception_becomes_unknown_server_error(broker: Any, capsys: pytest.CaptureFixture[str]) -> None:
    failed, after = ask(broker, topics("fault"), topics("fine"))
    assert error_codes(failed) == [
        ("error_code", "UNKNOWN_SERVER_ERROR"),
        ("topics[0].error_code", "UNKNOWN_SERVER_ERROR"),
    ]
    assert error_codes(after) == []
    assert capsys.readouterr().out.endswith(": LookupError('a fault')\n")


def test_unknown_topic_id_is_reported(broker: Any) -> None:
    produced, fetched = ask(broker, produce(BATCH), fetch(0))
    assert error_codes(produced) == [("responses[0].partition_responses[0].error_code", "UNKNOWN_TOPIC_ID")]
    assert error_codes(fetched) == [("responses[0].partitions[0].error_code", "UNKNOWN_TOPIC_ID")]
    [by_id] = ask(broker, MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(topic_id=UNKNOWN, name=None)]))
    assert [code for _, code in error_codes(by_id)][-1] == "UNKNOWN_TOPIC_ID"


def test_metadata_returns_requested_or_all_topics(broker: Any) -> None:
    names = [
        [topic.name for topic in each.topics] for each in ask(broker, topics("a", "b"), MetadataRequest(topics=None))
    ]
    assert names == [["a", "b"], ["a", "b"]]
    assert [len(each.topics) for each in ask(broker, MetadataRequest(topics=[]), version=1)] == [0]
    assert [len(each.topics) for each in ask(broker, MetadataRequest(topics=[]), version=0)] == [2]


def test_topic_is_not_created_without_auto_creation(broker: Any) -> None:
    asked = topics("new")
    asked.allow_auto_topic_creation = False
    assert [code for _, code in error_codes(ask(broker, asked)[0])][-1] == "UNKNOWN_TOPIC_OR_PARTITION"
    assert broker.logs == {}


def test_log_can_be_fetched_and_its_offsets_listed(broker: Any) -> None:
    ask(broker, topics("t"), produce(BATCH), produce(BATCH), version=12)
    [one] = ask(broker, fetch(1), version=12)
    assert one.responses[0].partitions[0].records == BATCH[:12] + bytes(4) + BATCH[16:]
    [both] = ask(broker, fetch(0, most=1 << 20), version=12)
    assert len(both.responses[0].partitions[0].records) == 2 * len(BATCH)
    [behind] = ask(broker, fetch(5), version=12)
    assert error_codes(behind) == [("responses[0].partitions[0].error_code", "OFFSET_OUT_OF_RANGE")]
    responses = ask(broker, *(list_offsets(timestamp) for timestamp in (-2, -1, 1_700_000_000_000)))
    found = [(each.topics[0].partitions[0].offset, [code for _, code in error_codes(each)]) for each in responses]
    assert found == [(0, []), (4, []), (-1, ["INVALID_REQUEST"])]


def join_group_request(member_id: str = "", session: int = 10_000) -> JoinGroupRequest:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"m")
    return JoinGroupRequest(
        group_id="g", session_timeout_ms=session, member_id=member_id, protocol_type="consumer", protocols=[protocol]
    )


def test_second_group_member_is_rejected_until_the_first_leaves(broker: Any) -> None:
    first, second = ask(broker, join_group_request(), join_group_request())
    assert (error_codes(first), error_codes(second)) == ([], [("error_code", "GROUP_MAX_SIZE_REACHED")])
    member = LeaveGroupRequest.MemberIdentity(member_id=first.member_id)
    left, third = ask(broker, LeaveGroupRequest(group_id="g", members=[member]), join_group_request())
    broker.members["g"].last_seen -= 11  # seconds, more than the session timeout
    [fourth] = ask(broker, join_group_request())
    assert [error_codes(each) for each in (left, third, fourth)] == [[], [], []]
    stale = HeartbeatRequest(group_id="g", member_id=third.member_id)
    assert [error_codes(each) for each in ask(broker, stale)] == [[("error_code", "UNKNOWN_MEMBER_ID")]]
    again = ask(
        broker, join_group_request(fourth.member_id), SyncGroupRequest(group_id="g", member_id=fourth.member_id)
    )
    assert [error_codes(each) for each in again] == [[], []]
    assert again[0].generation_id > fourth.generation_id


def test_invalid_join_group_is_rejected(broker: Any) -> None:
    empty = join_group_request(session=2**31 - 1)
    empty.protocols = []
    refused = ask(
        broker,
        empty,
        join_group_request(session=2**31 - 1),
        join_group_request(session=0),
        join_group_request(session=-1),
        join_group_request(session=1_800_001),
    )
    assert [code for each in refused for _, code in error_codes(each)] == [
        "INCONSISTENT_GROUP_PROTOCOL",
        *["INVALID_SESSION_TIMEOUT"] * 4,
    ]
    assert [error_codes(each) for each in ask(broker, join_group_request(session=1_800_000))] == [[]]


@pytest.mark.parametrize("version", [7, 9, 10])
def test_offset_fetch_without_topics_returns_all_offsets(broker: Any, version: int) -> None:
    [metadata] = ask(broker, topics("t", "u"))
    part = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[part])
    ask(broker, OffsetCommitRequest(group_id="g", topics=[topic]), version=9)
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g", topics=None)
    asked = OffsetFetchRequest(group_id="g", topics=None, groups=[group]).downgraded(version)
    [response] = ask(broker, asked, version=version)
    [found] = response.topics if version < 8 else response.groups[0].topics
    assert [each.committed_offset for each in found.partitions] == [5]
    assert (found.topic_id == metadata.topics[0].topic_id) if version == 10 else found.name == "t"


def test_unserved_api_returns_invalid_request(broker: Any) -> None:
    broker.announced = announce()
    resource = DescribeConfigsRequest.DescribeConfigsResource(resource_type=2, resource_name="t")
    [response] = ask(broker, DescribeConfigsRequest(resources=[resource]))
    assert error_codes(response) == [("results[0].error_code", "INVALID_REQUEST")]


def exchange_over_socket(broker: Any, data: bytes) -> bytes:
    async def talk() -> bytes:
        async with await asyncio.start_server(broker.serve, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(data)
            writer.write_eof()
            received = await reader.read()
            writer.close()
            return received

    return asyncio.run(asyncio.wait_for(talk(), SECONDS))


def test_unannounced_version_closes_the_connection(broker: Any, capsys: pytest.CaptureFixture[str]) -> None:
    broker.announced = announce([ApiKey.FETCH], versions={ApiKey.FETCH: Versions(5, 10)})
    assert exchange_over_socket(broker, encode_request(fetch(0).downgraded(4), 4, 7)) == b""
    assert capsys.readouterr().out == ("unsupported request at offset 0: FetchRequest v4 is not announced\n")


def test_newer_api_versions_request_gets_version_0_response(broker: Any) -> None:
    broker.announced = announce([ApiKey.API_VERSIONS], versions={ApiKey.API_VERSIONS: Versions(0, 2)})
    data = exchange_over_socket(broker, encode_request(ApiVersionsRequest(), 4, 7))
    response = decode_response(data[4:], ApiVersionsResponse, 0)
    assert response.header.correlation_id == 7
    assert response.message.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(each.api_key, each.max_version) for each in response.message.api_keys] == [(ApiKey.API_VERSIONS, 2)]


def test_invalid_utf8_is_returned_unchanged(broker: Any) -> None:
    odd = "caf\udce9"
    asked = OffsetFetchRequest(groups=[OffsetFetchRequest.OffsetFetchRequestGroup(group_id=odd, topics=[])])
    metadata, offsets = ask(broker, topics(odd), asked)
    assert [topic.name for topic in metadata.topics] == [odd]
    assert [group.group_id for group in offsets.groups] == [odd]


@pytest.mark.parametrize("version", [7, 9])
def test_uncommitted_offsets_are_minus_1(broker: Any, version: int) -> None:
    topic = OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[0, 3])
    newer = OffsetFetchRequest.OffsetFetchRequestTopics(name="t", partition_indexes=[0, 3])
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g", topics=[newer])
    asked = OffsetFetchRequest(group_id="g", topics=[topic], groups=[group]).downgraded(version)
    [response] = ask(broker, asked, version=version)
    assert error_codes(response) == []
    [found] = response.topics if version < 8 else response.groups[0].topics
    assert [(each.partition_index, each.committed_offset) for each in found.partitions] == [(0, -1), (3, -1)]
