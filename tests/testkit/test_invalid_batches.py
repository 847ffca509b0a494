"""Produce requests with invalid batches; tests/interop compares the error codes with those of a live broker."""

from __future__ import annotations

import pytest
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster

from tests.support.invalid_batches import BATCH, INVALID_BATCHES, TRAILING, changed, produce
from tests.support.testkit_broker import asked


def code(cluster: KafkaCluster, records: bytes) -> ErrorCode:
    [response] = asked(cluster.bootstrap_servers, produce(records, "orders"), version=12)
    return ErrorCode(response.responses[0].partition_responses[0].error_code)


@pytest.mark.parametrize("name", INVALID_BATCHES)
def test_invalid_batches_are_refused(name: str) -> None:
    records, expected = INVALID_BATCHES[name]
    with KafkaCluster(topics={"orders": 1}) as cluster:
        assert code(cluster, records) == expected
        assert cluster.records("orders") == []


def test_bytes_after_a_batch_are_cut_off() -> None:
    assert changed(0, 1) == BATCH
    with KafkaCluster(topics={"orders": 1}) as cluster:
        assert [code(cluster, BATCH), code(cluster, TRAILING)] == [ErrorCode.NONE] * 2
        first, second = cluster._state.topics.by_name["orders"].partitions[0].batches
        assert (first.size, second.size) == (len(BATCH), len(BATCH))
