"""Transactions: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka_messages import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    Request,
    Response,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kafka_messages.protocol import ErrorCode

from .cluster import Context, Handler, java_hash
from .errors import RequestError, failures
from .offset_handlers import check_commit, committed_from
from .topics import OFFSETS, ZERO
from .transactions import NONE, Partition, Producer

_OFFSETS_PARTITIONS = 50


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


def _started(context: Context, request: InitProducerIdRequest) -> Producer:
    transactions, name = context.cluster.transactions, request.transactional_id
    expected = (request.producer_id, request.producer_epoch)
    if name == "" or (expected != NONE and -1 in expected):
        raise RequestError(ErrorCode.INVALID_REQUEST)
    if name is None:
        return transactions.new_producer_id(), 0
    context.check_coordinator(name)
    return transactions.start(name, request.transaction_timeout_ms, expected)


async def add_partitions(context: Context, request: AddPartitionsToTxnRequest) -> Response:
    """Answer producers, and from version 4 on other brokers (KIP-890)."""
    kind = AddPartitionsToTxnResponse
    if context.version >= 4:
        results = [
            kind.AddPartitionsToTxnResult(
                transactional_id=each.transactional_id,
                topic_results=_added(
                    context,
                    each.transactional_id,
                    (each.producer_id, each.producer_epoch),
                    each.topics,
                    each.verify_only,
                ),
            )
            for each in request.transactions
        ]
        return kind(results_by_transaction=results)
    producer = (request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
    topics = _added(context, request.v3_and_below_transactional_id, producer, request.v3_and_below_topics, False)
    return kind(results_by_topic_v3_and_below=topics)


def _added(
    context: Context,
    name: str,
    producer: Producer,
    topics: Iterable[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic],
    is_check: bool,
) -> list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult]:
    """Add partitions to a transaction, or check that it has them: all of them, or none."""
    kind = AddPartitionsToTxnResponse
    given = [(topic.name, index) for topic in topics for index in topic.partitions]
    codes: dict[Partition, int] = {
        each: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for each in given if not _exists(context, each)
    }
    if codes:
        codes = {each: codes.get(each, ErrorCode.OPERATION_NOT_ATTEMPTED) for each in given}
    else:
        try:
            with _fencing(context.version >= 2):
                codes = _add(context, name, producer, set(given), is_check)
        except RequestError as error:
            codes = dict.fromkeys(given, error.code)
    return [
        kind.AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                kind.AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=codes.get((topic.name, index), 0)
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _add(
    context: Context, name: str, producer: Producer, partitions: set[Partition], is_check: bool
) -> dict[Partition, int]:
    if name:
        context.check_coordinator(name)
    if not is_check:
        context.cluster.transactions.add(name, producer, partitions)
        return {}
    return dict.fromkeys(
        context.cluster.transactions.missing(name, producer, partitions), ErrorCode.TRANSACTION_ABORTABLE
    )


def _exists(context: Context, partition: Partition) -> bool:
    try:
        context.cluster.topics.partition(partition[0], ZERO, partition[1])
    except RequestError:
        return False
    return True


def _offsets_partition(group: str) -> Partition:
    return OFFSETS, java_hash(group) % _OFFSETS_PARTITIONS


async def add_offsets(context: Context, request: AddOffsetsToTxnRequest) -> Response:
    response = AddOffsetsToTxnResponse()
    with failures(response), _fencing(context.version >= 2):
        producer = (request.producer_id, request.producer_epoch)
        _add(context, request.transactional_id, producer, {_offsets_partition(request.group_id)}, False)
    return response


async def end(context: Context, request: EndTxnRequest) -> Response:
    response = EndTxnResponse()
    with failures(response), _fencing(context.version >= 2):
        if request.transactional_id:
            context.check_coordinator(request.transactional_id)
        response.producer_id, response.producer_epoch = context.cluster.transactions.end(
            request.transactional_id,
            (request.producer_id, request.producer_epoch),
            request.committed,
            is_version_2=context.version >= 5,
        )
    return response


async def commit_offsets(context: Context, request: TxnOffsetCommitRequest) -> Response:
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
        _check_commit(context, request)
    for name, each, part in valid:
        with failures(part):
            committed = committed_from(each)
            cluster.offsets.add_pending(request.group_id, request.producer_id, name, each.partition_index, committed)
    return response


def _check_commit(context: Context, request: TxnOffsetCommitRequest) -> None:
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
    generation = request.generation_id_or_member_epoch
    check_commit(context, group, request.member_id, generation, request.group_instance_id, is_transactional=True)


HANDLERS: dict[type[Request[Any]], Handler] = {
    InitProducerIdRequest: init_producer_id,
    AddPartitionsToTxnRequest: add_partitions,
    AddOffsetsToTxnRequest: add_offsets,
    TxnOffsetCommitRequest: commit_offsets,
    EndTxnRequest: end,
}
