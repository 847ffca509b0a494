"""Transactions: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from kafka_messages import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    Response,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kafka_messages.protocol import ErrorCode

from ..state.cluster import Context
from ..state.errors import RequestError, failures
from ..state.groups import java_hash
from ..state.topics import OFFSETS, ZERO
from ..state.transactions import NONE, Partition, ProducerIdAndEpoch, Transactions
from .committed_offsets import check_commit, committed_from

_OFFSETS_PARTITIONS = 50
"""Default of ``offsets.topic.num.partitions``."""

AddedTransaction: TypeAlias = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
TopicResult: TypeAlias = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult


@contextmanager
def _fencing(is_fenced: bool) -> Iterator[None]:
    """Replace PRODUCER_FENCED by INVALID_PRODUCER_EPOCH for versions that do not have it (KIP-588)."""
    try:
        yield
    except RequestError as error:
        if error.code == ErrorCode.PRODUCER_FENCED and not is_fenced:
            raise RequestError(ErrorCode.INVALID_PRODUCER_EPOCH) from None
        raise


async def init_producer_id(context: Context, request: InitProducerIdRequest) -> Response:
    response = InitProducerIdResponse(producer_epoch=-1)
    with failures(response), _fencing(context.version >= 4):
        response.producer_id, response.producer_epoch = _started(context, request)
    return response


def _started(context: Context, request: InitProducerIdRequest) -> ProducerIdAndEpoch:
    transactions, name = context.cluster.transactions, request.transactional_id
    expected = (request.producer_id, request.producer_epoch)
    if name == "" or (expected != NONE and -1 in expected):
        raise RequestError(ErrorCode.INVALID_REQUEST)
    if name is None:
        return transactions.new_producer_id(), 0
    context.check_coordinator(name)
    return transactions.start(name, request.transaction_timeout_ms, expected)


async def add_partitions_to_txn(context: Context, request: AddPartitionsToTxnRequest) -> Response:
    """Answer producers, and from version 4 on other brokers (KIP-890)."""
    if context.version < 4:
        one = AddedTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(context, one))
    kind = AddPartitionsToTxnResponse.AddPartitionsToTxnResult
    results = [
        kind(transactional_id=each.transactional_id, topic_results=_results(context, each))
        for each in request.transactions
    ]
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def _results(context: Context, given: AddedTransaction) -> list[TopicResult]:
    codes = _codes(context, given, {(topic.name, index) for topic in given.topics for index in topic.partitions})
    kind = AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult
    topics = []
    for topic in given.topics:
        parts = [
            kind(partition_index=index, partition_error_code=codes.get((topic.name, index), 0))
            for index in topic.partitions
        ]
        topics.append(TopicResult(name=topic.name, results_by_partition=parts))
    return topics


def _codes(context: Context, given: AddedTransaction, places: set[Partition]) -> dict[Partition, int]:
    """Add all partitions to a transaction or none, or check that it has them; return the errors."""
    unknown = {each for each in places if not _exists(context, each)}
    if unknown:
        codes = {each: int(ErrorCode.OPERATION_NOT_ATTEMPTED) for each in places}
        return codes | dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    producer = (given.producer_id, given.producer_epoch)
    try:
        with _fencing(context.version >= 2):
            transactions = _coordinated(context, given.transactional_id)
            if given.verify_only:
                missing = transactions.missing(given.transactional_id, producer, places)
                return dict.fromkeys(missing, ErrorCode.TRANSACTION_ABORTABLE)
            transactions.add(given.transactional_id, producer, places)
    except RequestError as error:
        return dict.fromkeys(places, error.code)
    return {}


def _exists(context: Context, partition: Partition) -> bool:
    try:
        context.cluster.topics.partition(partition[0], ZERO, partition[1])
    except RequestError:
        return False
    return True


def _coordinated(context: Context, id: str) -> Transactions:
    """Return the transactions. Raises RequestError if another broker coordinates this one."""
    if id:  # an empty id is refused as such
        context.check_coordinator(id)
    return context.cluster.transactions


def _offsets_partition(group: str) -> Partition:
    return OFFSETS, java_hash(group) % _OFFSETS_PARTITIONS


async def add_offsets_to_txn(context: Context, request: AddOffsetsToTxnRequest) -> Response:
    response = AddOffsetsToTxnResponse()
    with failures(response), _fencing(context.version >= 2):
        transactions = _coordinated(context, request.transactional_id)
        producer = (request.producer_id, request.producer_epoch)
        transactions.add(request.transactional_id, producer, {_offsets_partition(request.group_id)})
    return response


async def end_txn(context: Context, request: EndTxnRequest) -> Response:
    """Answer as ``KafkaApis.handleEndTxnRequest``: version 5 is that of ``transaction.version`` 2."""
    response = EndTxnResponse()
    with failures(response), _fencing(context.version >= 2):
        transactions = _coordinated(context, request.transactional_id)
        producer = (request.producer_id, request.producer_epoch)
        response.producer_id, response.producer_epoch = transactions.end(
            request.transactional_id, producer, request.committed, is_version_2=context.version >= 5
        )
    return response


async def txn_offset_commit(context: Context, request: TxnOffsetCommitRequest) -> Response:
    """Keep offsets until the transaction ends; from version 5 on also add the group to it (KIP-890)."""
    kind, cluster = TxnOffsetCommitResponse, context.cluster
    response, valid = kind(), []
    for topic in request.topics:
        name = cluster.topics.names.get(topic.topic_id, "") if topic.topic_id != ZERO else topic.name
        made = kind.TxnOffsetCommitResponseTopic(name=name, topic_id=topic.topic_id)
        response.topics.append(made)
        for each in topic.partitions:
            part = kind.TxnOffsetCommitResponsePartition(partition_index=each.partition_index)
            made.partitions.append(part)
            with failures(part):
                cluster.topics.partition(name, topic.topic_id, each.partition_index)
                valid.append((name, each, part))
    if valid:
        _check_commit(context, request, [(name, each.partition_index) for name, each, _ in valid])
    for name, each, part in valid:
        with failures(part):
            committed = committed_from(each)
            cluster.offsets.add_pending(request.group_id, request.producer_id, name, each.partition_index, committed)
    return response


def _check_commit(context: Context, request: TxnOffsetCommitRequest, places: list[tuple[str, int]]) -> None:
    """Check transaction and group (``GroupCoordinatorService.commitTransactionalOffsets``). Raises RequestError."""
    group = request.group_id
    if not group:
        raise RequestError(ErrorCode.INVALID_GROUP_ID)
    context.check_coordinator(group)
    context.cluster.transactions.join(
        request.transactional_id,
        (request.producer_id, request.producer_epoch),
        _offsets_partition(group),
        is_added=context.version >= 5,
        is_abortable=context.version >= 4,
    )
    check_commit(context, request, places)
