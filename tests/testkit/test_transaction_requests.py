"""Responses of the cluster to the requests of transactional producers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    FetchResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    OffsetFetchRequest,
    ProduceRequest,
    ProduceResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster
from kafka_records import Record, read_batches, write_batch

from tests.support.testkit_broker import asked

MAPPING = ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(topics={"orders": 2, "paid": 1}) as made:
        yield made


def ask(cluster: KafkaCluster, *requests: Any, version: int | None = None) -> Any:
    """Send requests; return the response to the last one."""
    return asked(cluster.bootstrap_servers, *requests, version=version)[-1]


def begin(id: str | None = "t", **fields: Any) -> InitProducerIdRequest:
    return InitProducerIdRequest(**{"transactional_id": id, "transaction_timeout_ms": 60_000, **fields})


def add(*topics: tuple[str, list[int]], id: str = "t", producer: tuple[int, int] = (0, 0)) -> AddPartitionsToTxnRequest:
    kind = AddPartitionsToTxnRequest
    return kind(
        v3_and_below_transactional_id=id,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[kind.AddPartitionsToTxnTopic(name=name, partitions=each) for name, each in topics],
    )


def added(**topics: dict[int, int]) -> list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult]:
    """Return the results of topics, from error codes by partition."""
    kind = AddPartitionsToTxnResponse
    return [
        kind.AddPartitionsToTxnTopicResult(
            name=name,
            results_by_partition=[
                kind.AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
                for index, code in codes.items()
            ],
        )
        for name, codes in topics.items()
    ]


def end(epoch: int = 0, *, is_commit: bool = True, id: str = "t", producer_id: int = 0) -> EndTxnRequest:
    return EndTxnRequest(transactional_id=id, producer_id=producer_id, producer_epoch=epoch, committed=is_commit)


def produce(
    cluster: KafkaCluster, epoch: int = 0, *, id: str = "t", partition: int = 0, value: bytes = b"a", version: int = 12
) -> Any:
    """Write a record to the topic ``paid``; return the response of the partition."""
    batch = write_batch(
        [Record(timestamp=0, value=value)],
        producer_id=0,
        producer_epoch=epoch,
        base_sequence=0,
        is_transactional=True,
    )
    kind = ProduceRequest
    part = kind.PartitionProduceData(index=partition, records=batch)
    topic = kind.TopicProduceData(name="paid", partition_data=[part])
    request = kind(transactional_id=id, acks=-1, timeout_ms=1000, topic_data=[topic])
    [found] = ask(cluster, request, version=version).responses
    [answer] = found.partition_responses
    return answer


def produced(base_offset: int = 0) -> ProduceResponse.PartitionProduceResponse:
    return ProduceResponse.PartitionProduceResponse(base_offset=base_offset, log_start_offset=0)


def commit(group: str = "billing", *, epoch: int = 0, topic: str = "paid", **fields: Any) -> TxnOffsetCommitRequest:
    """Return a request that commits offset 5 of partition 0."""
    kind = TxnOffsetCommitRequest
    part = kind.TxnOffsetCommitRequestPartition(committed_offset=5, committed_metadata="note")
    topics = [kind.TxnOffsetCommitRequestTopic(name=topic, partitions=[part])]
    producer = {"transactional_id": "t", "producer_id": 0, "producer_epoch": epoch}
    return kind(**{"group_id": group, "topics": topics, **producer, **fields})


def committed(code: int = 0, topic: str = "paid") -> TxnOffsetCommitResponse:
    kind = TxnOffsetCommitResponse
    part = kind.TxnOffsetCommitResponsePartition(error_code=code)
    return kind(topics=[kind.TxnOffsetCommitResponseTopic(name=topic, partitions=[part])])


def read(cluster: KafkaCluster, *, isolation_level: int = 1) -> FetchResponse.PartitionData:
    kind = FetchRequest
    part = kind.FetchPartition(partition_max_bytes=1 << 20)
    topics = [kind.FetchTopic(topic="paid", partitions=[part])]
    request = kind(max_wait_ms=0, max_bytes=1 << 20, isolation_level=isolation_level, topics=topics)
    response: FetchResponse = ask(cluster, request, version=12)
    [topic] = response.responses
    [found] = topic.partitions
    return found


def test_a_new_cluster_announces_version_2_of_transactions(cluster: KafkaCluster) -> None:
    response = ask(cluster, ApiVersionsRequest(client_software_name="test", client_software_version="1"))
    kind = ApiVersionsResponse.FinalizedFeatureKey
    assert list(response.finalized_features) == [
        kind(name="group.version", max_version_level=1, min_version_level=1),
        kind(name="transaction.version", max_version_level=2, min_version_level=2),
    ]
    assert response.finalized_features_epoch == 1


def test_older_releases_announce_no_features() -> None:
    with KafkaCluster(release="3.9") as cluster:
        response = ask(cluster, ApiVersionsRequest(client_software_name="test", client_software_version="1"))
        assert (list(response.finalized_features), response.finalized_features_epoch) == ([], -1)


def test_producers_get_ids_and_epochs(cluster: KafkaCluster) -> None:
    asked_for = [
        begin(None),
        begin(),
        begin(),
        begin(producer_id=1, producer_epoch=1),
        begin(producer_id=1, producer_epoch=0),
        begin(""),
        begin(producer_id=1),
        begin(transaction_timeout_ms=0),
    ]
    got = asked(cluster.bootstrap_servers, *asked_for, version=5)
    assert got == [
        InitProducerIdResponse(producer_id=0, producer_epoch=0),
        InitProducerIdResponse(producer_id=1, producer_epoch=0),
        InitProducerIdResponse(producer_id=1, producer_epoch=1),
        InitProducerIdResponse(producer_id=1, producer_epoch=2),
        InitProducerIdResponse(error_code=ErrorCode.PRODUCER_FENCED, producer_epoch=-1),
        InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1),
        InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1),
        InitProducerIdResponse(error_code=ErrorCode.INVALID_TRANSACTION_TIMEOUT, producer_epoch=-1),
    ]


def test_partitions_are_added_to_a_transaction(cluster: KafkaCluster) -> None:
    assert ask(cluster, begin(), add(("orders", [0, 1]), ("paid", [0])), version=3) == AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=added(orders={0: 0, 1: 0}, paid={0: 0})
    )


def test_all_partitions_are_added_or_none(cluster: KafkaCluster) -> None:
    response = ask(cluster, begin(), add(("orders", [0, 2]), ("unknown", [0])), version=3)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    results = added(orders={0: ErrorCode.OPERATION_NOT_ATTEMPTED, 2: unknown}, unknown={0: unknown})
    assert response == AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
    assert ask(cluster, end(), version=4) == EndTxnResponse(error_code=ErrorCode.INVALID_TXN_STATE)


def test_a_broker_checks_the_partitions_of_transactions(cluster: KafkaCluster) -> None:
    """Version 4 has several transactions (KIP-890)."""
    kind = AddPartitionsToTxnRequest
    topics = [kind.AddPartitionsToTxnTopic(name="orders", partitions=[0, 1])]
    request = kind(
        transactions=[
            kind.AddPartitionsToTxnTransaction(transactional_id="t", producer_id=0, verify_only=True, topics=topics),
            kind.AddPartitionsToTxnTransaction(transactional_id="u", producer_id=0, topics=topics),
        ]
    )
    asked(cluster.bootstrap_servers, begin(), add(("orders", [0])), version=3)
    made = AddPartitionsToTxnResponse.AddPartitionsToTxnResult
    assert ask(cluster, request, version=5) == AddPartitionsToTxnResponse(
        results_by_transaction=[
            made(transactional_id="t", topic_results=added(orders={0: 0, 1: ErrorCode.TRANSACTION_ABORTABLE})),
            made(transactional_id="u", topic_results=added(orders={0: MAPPING, 1: MAPPING})),
        ]
    )


@pytest.mark.parametrize(
    ("request_", "response", "version"),
    [
        (begin(producer_id=0, producer_epoch=7), InitProducerIdResponse(producer_epoch=-1), 4),
        (add(("paid", [0]), producer=(0, 7)), AddPartitionsToTxnResponse, 2),
        (AddOffsetsToTxnRequest(transactional_id="t", producer_epoch=7), AddOffsetsToTxnResponse(), 2),
        (end(7), EndTxnResponse(), 2),
    ],
)
def test_versions_before_kip_588_have_no_producer_fenced(
    cluster: KafkaCluster, request_: Any, response: Any, version: int
) -> None:
    ask(cluster, begin())
    codes = {version: ErrorCode.PRODUCER_FENCED, version - 1: ErrorCode.INVALID_PRODUCER_EPOCH}
    for number, code in codes.items():
        if response is AddPartitionsToTxnResponse:
            expected = response(results_by_topic_v3_and_below=added(paid={0: code}))
        else:
            response.error_code = code
            expected = response
        if number < 3 and isinstance(request_, InitProducerIdRequest):
            continue
        assert ask(cluster, request_, version=number) == expected


def test_only_the_coordinator_answers() -> None:
    requests = [
        begin(),
        add(("orders", [0])),
        AddOffsetsToTxnRequest(transactional_id="t", group_id="billing"),
        end(),
    ]
    error = ErrorCode.NOT_COORDINATOR
    with KafkaCluster(2, topics={"orders": 1}) as cluster:
        cluster.move_coordinator("t", 2)
        assert [ask(cluster, each, version=3) for each in requests] == [
            InitProducerIdResponse(error_code=error, producer_epoch=-1),
            AddPartitionsToTxnResponse(results_by_topic_v3_and_below=added(orders={0: error})),
            AddOffsetsToTxnResponse(error_code=error),
            EndTxnResponse(error_code=error),
        ]
        cluster.move_coordinator("t", 1)
        assert ask(cluster, begin()) == InitProducerIdResponse(producer_id=0, producer_epoch=0)
        cluster.move_coordinator("billing", 2)
        assert ask(cluster, commit(topic="orders"), version=5) == committed(error, "orders")


def test_version_5_of_end_txn_returns_the_next_epoch(cluster: KafkaCluster) -> None:
    ask(cluster, begin())
    assert produce(cluster) == produced()
    got = asked(cluster.bootstrap_servers, end(), end(), end(1), end(1, is_commit=False), version=5)
    assert got == [
        EndTxnResponse(producer_id=0, producer_epoch=1),
        EndTxnResponse(producer_id=0, producer_epoch=1),
        EndTxnResponse(error_code=ErrorCode.INVALID_TXN_STATE),
        EndTxnResponse(producer_id=0, producer_epoch=2),
    ]


def test_version_4_of_end_txn_keeps_the_epoch(cluster: KafkaCluster) -> None:
    ask(cluster, begin(), add(("paid", [0])), version=3)
    assert produce(cluster, version=11) == produced()
    got = asked(cluster.bootstrap_servers, end(), end(), end(is_commit=False), end(id="u"), end(id=""), version=4)
    assert got == [
        EndTxnResponse(),
        EndTxnResponse(),
        EndTxnResponse(error_code=ErrorCode.INVALID_TXN_STATE),
        EndTxnResponse(error_code=MAPPING),
        EndTxnResponse(error_code=ErrorCode.INVALID_REQUEST),
    ]


def test_records_are_written_in_a_transaction_only(cluster: KafkaCluster) -> None:
    ask(cluster, begin(), add(("orders", [0])), version=3)
    kind = ProduceResponse.PartitionProduceResponse
    code, text = ErrorCode.INVALID_TXN_STATE, "Partition was not added to the transaction"
    assert produce(cluster, version=10) == kind(error_code=code, base_offset=-1, error_message=text)
    assert produce(cluster, version=11) == kind(error_code=ErrorCode.TRANSACTION_ABORTABLE, base_offset=-1)
    assert produce(cluster, 3) == kind(error_code=ErrorCode.INVALID_PRODUCER_EPOCH, base_offset=-1)
    assert produce(cluster, id="u") == kind(error_code=MAPPING, base_offset=-1)


def test_aborted_records_are_announced(cluster: KafkaCluster) -> None:
    ask(cluster, begin())
    produce(cluster, value=b"aborted")
    opened = read(cluster)
    assert (opened.last_stable_offset, opened.records, opened.aborted_transactions) == (0, b"", [])
    ask(cluster, end(is_commit=False))
    produce(cluster, 1, value=b"committed")
    ask(cluster, end(1))
    found = read(cluster)
    kind = FetchResponse.AbortedTransaction
    assert found.aborted_transactions == [kind(producer_id=0, first_offset=0)]
    assert (found.high_watermark, found.last_stable_offset) == (4, 4)
    batches = list(read_batches(found.records or b""))
    assert [(each.is_control, each.producer_epoch) for each in batches] == [
        (False, 0),
        (True, 1),
        (False, 1),
        (True, 2),
    ]


def test_a_timeout_aborts_the_transaction(cluster: KafkaCluster) -> None:
    ask(cluster, begin(transaction_timeout_ms=1))
    produce(cluster)
    kind = FetchRequest
    part = kind.FetchPartition(partition_max_bytes=1 << 20)
    topics = [kind.FetchTopic(topic="paid", partitions=[part])]
    request = kind(max_wait_ms=5000, min_bytes=1, max_bytes=1 << 20, isolation_level=1, topics=topics)
    [topic] = ask(cluster, request, version=12).responses  # waits for the marker
    assert topic.partitions[0].last_stable_offset == 2
    assert produce(cluster).error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert ask(cluster, begin()) == InitProducerIdResponse(producer_id=0, producer_epoch=2)


def test_a_second_producer_fences_the_first(cluster: KafkaCluster) -> None:
    ask(cluster, begin())
    produce(cluster)
    got = asked(cluster.bootstrap_servers, begin(), begin(), version=5)
    assert got == [
        InitProducerIdResponse(error_code=ErrorCode.CONCURRENT_TRANSACTIONS, producer_epoch=-1),
        InitProducerIdResponse(producer_id=0, producer_epoch=2),
    ]
    assert produce(cluster).error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert ask(cluster, end()) == EndTxnResponse(error_code=ErrorCode.PRODUCER_FENCED)


def test_offsets_are_committed_with_the_transaction(cluster: KafkaCluster) -> None:
    ask(cluster, begin())
    kind = OffsetFetchRequest
    topic = kind.OffsetFetchRequestTopics(name="paid", partition_indexes=[0])
    groups = [kind.OffsetFetchRequestGroup(group_id="billing", topics=[topic])]
    fetch = kind(groups=groups, require_stable=True)
    for number, (is_commit, expected) in enumerate([(False, {}), (True, {("paid", 0): 5})]):
        assert ask(cluster, commit(epoch=number), version=5) == committed()
        [group] = ask(cluster, fetch, version=9).groups
        assert group.topics[0].partitions[0].error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
        assert cluster.committed("billing") == {}
        ask(cluster, end(number, is_commit=is_commit))
        assert cluster.committed("billing") == expected


def test_older_producers_add_the_group_first(cluster: KafkaCluster) -> None:
    ask(cluster, begin())
    codes = {3: ErrorCode.INVALID_TXN_STATE, 4: ErrorCode.TRANSACTION_ABORTABLE}
    for version, code in codes.items():
        assert ask(cluster, commit(), version=version) == committed(code)
    offsets = AddOffsetsToTxnRequest(transactional_id="t", producer_id=0, producer_epoch=0, group_id="billing")
    assert ask(cluster, offsets) == AddOffsetsToTxnResponse()
    assert ask(cluster, commit(), version=3) == committed()
    assert ask(cluster, end(), version=4) == EndTxnResponse()
    assert cluster.committed("billing") == {("paid", 0): 5}


def test_offset_commits_are_checked(cluster: KafkaCluster) -> None:
    ask(cluster, begin())
    kind = TxnOffsetCommitRequest
    long = kind.TxnOffsetCommitRequestPartition(committed_metadata="m" * 4097)
    topics = [kind.TxnOffsetCommitRequestTopic(name="paid", partitions=[long])]
    for request, code in (
        (commit(""), ErrorCode.INVALID_GROUP_ID),
        (commit(epoch=1), ErrorCode.INVALID_PRODUCER_EPOCH),
        (commit(transactional_id="u"), MAPPING),
        (commit(generation_id_or_member_epoch=3, member_id="one"), ErrorCode.ILLEGAL_GENERATION),
        (commit(topics=topics), ErrorCode.OFFSET_METADATA_TOO_LARGE),
    ):
        assert ask(cluster, request, version=5) == committed(code)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(cluster, commit(topic="unknown"), version=5) == committed(unknown, "unknown")


def test_a_marker_of_an_older_producer_does_not_stop_the_transaction(cluster: KafkaCluster) -> None:
    ask(cluster, begin())
    ask(cluster, add(("paid", [0]), ("orders", [0])), version=3)
    batch = write_batch([Record(timestamp=0, value=b"a")], producer_id=0, producer_epoch=9, base_sequence=0)
    topic = ProduceRequest.TopicProduceData(
        name="paid", partition_data=[ProduceRequest.PartitionProduceData(index=0, records=batch)]
    )
    ask(cluster, ProduceRequest(acks=-1, topic_data=[topic]), version=11)
    assert ask(cluster, end(), version=3) == EndTxnResponse()
    assert ask(cluster, begin()).error_code == ErrorCode.NONE
