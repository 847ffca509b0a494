"""The table of error codes, and the warning for a code that Kafka never returns."""

from __future__ import annotations

import json
import warnings
from importlib.resources import files

import kafka_messages
import pytest
from kafka_messages import AlterConfigsRequest, OffsetCommitRequest
from kafka_messages.protocol import ErrorCode
from kafka_messages.schema import descriptor_of
from kafka_messages_testkit import KafkaCluster, KafkaProxy
from kafka_messages_testkit.handlers.table import FAMILIES

SERVED = (
    *("ApiVersions", "Metadata", "CreateTopics", "DeleteTopics", "DescribeTopicPartitions", "DescribeCluster"),
    *("Produce", "Fetch", "ListOffsets", "OffsetForLeaderEpoch", "FindCoordinator", "JoinGroup", "SyncGroup"),
    *("Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch", "DescribeGroups", "ListGroups"),
    *("ConsumerGroupHeartbeat", "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"),
)


CODES = json.loads(files("kafka_messages_testkit").joinpath("error_codes.json").read_bytes())


def test_table_has_every_api_of_the_cluster() -> None:
    assert sorted(CODES) == sorted(SERVED)
    assert {"ApiVersions"}.union(*FAMILIES.values()) == set(SERVED)


@pytest.mark.parametrize("name", SERVED)
def test_codes_are_known_and_have_a_place_in_the_response(name: str) -> None:
    classes = CODES[name]
    codes = [code for each in classes.values() for code in each]
    assert [code for code in codes if code not in ErrorCode.__members__] == []
    assert "NONE" not in codes
    assert all(classes.values())
    response = getattr(kafka_messages, f"{name}Response")
    assert any(has_code(field) for field in descriptor_of(response).fields)


def has_code(field: object) -> bool:
    return bool(field.is_error_code or any(map(has_code, field.fields)))  # type: ignore[attr-defined]


def test_code_that_kafka_never_returns_gives_a_warning() -> None:
    text = (
        "Kafka never returns OFFSET_OUT_OF_RANGE in a response of OffsetCommit, as read from ClassicGroup, ConsumerGroup, "
        "GroupCoordinatorService, KafkaApis, OffsetCommitResponse, RequestHandlerHelper"
    )
    with KafkaCluster() as cluster, pytest.warns(UserWarning, match=f"^{text}$") as found:
        cluster.on(OffsetCommitRequest, optional=True).fail(ErrorCode.OFFSET_OUT_OF_RANGE)
    assert len(found) == 1
    assert found[0].filename == __file__


def test_other_codes_and_other_apis_give_no_warning() -> None:
    with warnings.catch_warnings(), KafkaCluster() as cluster, KafkaProxy("127.0.0.1:9") as proxy:
        warnings.simplefilter("error")
        cluster.on(OffsetCommitRequest, optional=True).fail(ErrorCode.ILLEGAL_GENERATION)
        cluster.on(OffsetCommitRequest, optional=True).fail(ErrorCode.UNKNOWN_SERVER_ERROR)
        proxy.on(AlterConfigsRequest, optional=True).fail(ErrorCode.OFFSET_OUT_OF_RANGE)
