"""Produce."""

from __future__ import annotations

from typing import Any, TypeAlias

from kafka_messages import ProduceRequest, ProduceResponse, Response
from kafka_messages.aio import CloseConnection
from kafka_messages.protocol import ErrorCode
from kafka_records import read_headers

from ..state.batches import InvalidRecords, produced_batch
from ..state.cluster import Context
from ..state.errors import RequestError
from ..state.topics import INTERNAL

_ADMIN = "__admin_client"  # client id that may write to internal topics
_Part: TypeAlias = ProduceResponse.PartitionProduceResponse
_WITHOUT_START = {ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.CORRUPT_MESSAGE}
"""Errors of an append for which Kafka does not return the start of the log."""


async def produce(context: Context, request: ProduceRequest) -> Response | None:
    """Answer as ``KafkaApis.handleProduceRequest``. With acks 0 an error closes the connection."""
    response, has_failed = ProduceResponse(), False
    if request.transactional_id is None and any(
        _is_transactional(part.records) for topic in request.topic_data for part in topic.partition_data
    ):
        raise RequestError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    for topic in request.topic_data:
        made = ProduceResponse.TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
        response.responses.append(made)
        for each in topic.partition_data:
            part = _Part(index=each.index, base_offset=-1)
            made.partition_responses.append(part)
            try:
                _append(context, request, topic, each, part)
            except RequestError as error:
                has_failed = True
                _fail(context, response, topic, part, error)
    if request.acks != 0:
        return response
    if has_failed:
        raise CloseConnection
    return None


def _append(context: Context, request: ProduceRequest, topic: Any, each: Any, part: _Part) -> None:
    found = context.cluster.topics.find(topic.name, topic.topic_id)
    log = context.cluster.topics.partition(topic.name, topic.topic_id, each.index)
    data = produced_batch(each.records, context.version)
    if request.acks not in (-1, 0, 1):
        raise RequestError(ErrorCode.INVALID_REQUIRED_ACKS)
    if found.name in INTERNAL and context.client_id != _ADMIN:
        raise RequestError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    context.led(topic.name, topic.topic_id, each.index)
    for batch in read_headers(data):
        if batch.is_transactional:
            context.cluster.transactions.check_produce(
                request.transactional_id or "",
                (batch.producer_id, batch.producer_epoch),
                (found.name, each.index),
                context.version,
            )
    end, part.log_start_offset = log.end, log.start
    part.base_offset = log.append(data)
    if part.base_offset < end:
        part.log_append_time_ms = log.batch_at(part.base_offset).max_timestamp  # as Kafka answers to duplicates


def _fail(context: Context, response: ProduceResponse, topic: Any, part: _Part, error: RequestError) -> None:
    part.error_code, part.error_message = error.code, error.message
    if isinstance(error, InvalidRecords):
        kind = ProduceResponse.BatchIndexAndErrorMessage
        part.record_errors = [
            kind(batch_index=number, batch_index_error_message=text) for number, text in error.records
        ]
    if error.code in _WITHOUT_START:
        part.log_start_offset = -1
    if error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
        context.add_leader(response, part, topic.name, topic.topic_id, part.index)


def _is_transactional(records: bytes | None) -> bool:
    try:
        return any(batch.is_transactional for batch in read_headers(records or b""))
    except ValueError:
        return False  # an invalid batch is refused later
