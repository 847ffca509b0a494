"""Broken brokers: Produce, Fetch and ListOffsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_messages import (
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafka_records import Batch, read_batches

from . import relay as relays
from .bug import batches, constant, records, relay, rewritten, rule, sets

# Produce


_NAMES = {
    ProduceResponse: ("topic_data", "partition_data", "responses", "partition_responses"),
    FetchResponse: ("topics", "partitions", "responses", "partitions"),
    ListOffsetsResponse: ("topics", "partitions", "topics", "partitions"),
}


def _pairs(request: Any, response: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the partitions of a request with those of its response."""
    topics, partitions, answers, parts = _NAMES[type(response)]
    for asked, got in zip(getattr(request, topics), getattr(response, answers), strict=False):
        yield from zip(getattr(asked, partitions), getattr(got, parts), strict=False)


def _without_producer(batch: Batch) -> bytes:
    if batch.is_transactional:
        return batch.data
    return rewritten(batch, producer_id=-1, producer_epoch=-1, base_sequence=-1)


class _SequenceOfProducer:
    """Expects one sequence per producer, in all partitions of a topic."""

    def __init__(self) -> None:
        self.partitions: dict[tuple[int, str], int] = {}

    def __call__(self, request: Any, response: Any) -> None:
        for asked, got in _pairs(request, response):
            for batch in read_batches(asked.records or b"", verify=False):
                place = batch.producer_id, request.topic_data[0].name
                if batch.producer_id >= 0 and self.partitions.setdefault(place, asked.index) != asked.index:
                    got.error_code = 45


def _offsets_of_batches(request: Any, response: Any) -> None:
    sets(base_offset=lambda old: min(old, 1))(response)


for code, problem, ids in (
    (2, "wrong checksums", ["PRODUCE.wrong-checksum"]),
    (3, "partitions are created", ["PRODUCE.unknown-partition"]),
    (76, "zstd in all versions", ["KIP-110.zstd-before-produce-7"]),
    (87, "control batches and several batches", ["PRODUCE.no-control-batches", "PRODUCE.one-batch-per-partition"]),
):
    rule(f"Produce accepts {problem}", ProduceResponse, sets(error_code={code: 0}), *ids)
rule("any acks", ProduceRequest, sets(acks={2: 1}), "PRODUCE.invalid-acks")
relay(
    "a response without acks",
    relays.AnswersAcks0,
    "PRODUCE.acks-0-has-no-response",
    "PRODUCE.acks-0-with-an-error-closes",
)
relay("errors without acks", relays.KeepsConnectionsWithAcks0, "PRODUCE.acks-0-with-an-error-closes")
rule(
    "offsets count batches",
    ProduceResponse,
    _offsets_of_batches,
    "PRODUCE.base-offset-of-the-second-batch",
    "KIP-98.open-transaction-is-hidden",
)
rule("old error of topic ids: Produce", ProduceResponse, sets(error_code={100: 3}), "PRODUCE.unknown-topic-id")
rule(
    "unknown idempotence",
    ProduceRequest,
    batches(_without_producer),
    *(
        "KIP-98.duplicate-batch-is-not-appended",
        "KIP-98.gap-in-sequence",
        "KIP-98.old-epoch",
        "KIP-98.partial-duplicate",
    ),
)
rule("a sequence per producer", ProduceResponse, _SequenceOfProducer(), "KIP-98.sequence-per-partition")
rule(
    "a map of headers",
    ProduceRequest,
    records(lambda each: each._replace(headers=tuple(dict(each.headers).items()))),
    "RECORDS.headers-survive-the-broker",
)
rule(
    "timestamps of 32 bits",
    ProduceRequest,
    records(lambda each: each._replace(timestamp=each.timestamp & 0xFFFFFFFF)),
    "RECORDS.old-timestamps-survive-the-broker",
    "LIST-OFFSETS.first-at-or-after-a-timestamp",
    "LIST-OFFSETS.max-timestamp",
)
rule(
    "null is empty",
    ProduceRequest,
    records(lambda each: each._replace(key=each.key or b"", value=each.value or b"")),
    "RECORDS.tombstone-survives-the-broker",
    report="platformatic/kafka#217",
)
rule(
    "no endpoints of leaders",
    ProduceResponse,
    sets(node_endpoints=constant([])),
    "KIP-951.produce-names-the-leader",
    brokers=2,
)
rule(
    "endpoints of leaders behind a proxy",
    ProduceResponse,
    sets(host=constant("behind")),
    "KIP-951.produce-names-the-leader",
    brokers=2,
    is_proxy=True,
    report="grepplabs/kafka-proxy#223",
)

# Fetch and ListOffsets


def _truncated(request: Any, response: Any) -> None:
    for asked, got in _pairs(request, response):
        got.records = (got.records or b"")[: min(asked.partition_max_bytes, request.max_bytes)]


def _batches_after(request: Any, response: Any) -> None:
    for asked, got in _pairs(request, response):
        found = read_batches(got.records or b"")
        got.records = b"".join(each.data for each in found if each.base_offset >= asked.fetch_offset)


def _last_offset(request: Any, response: Any) -> None:
    for asked, got in _pairs(request, response):
        got.offset -= asked.timestamp == -1 and got.offset > 0


def _base_offset(request: Any, response: Any) -> None:
    for asked, got in _pairs(request, response):
        got.offset = min(got.offset, 0) if asked.timestamp > 0 else got.offset


def _end_of_log(request: Any, response: Any) -> None:
    for _, got in _pairs(request, response):
        if got.error_code == 0 and got.offset == -1:
            got.offset = 3


def _offset_0(request: Any, response: Any) -> None:
    for _, got in _pairs(request, response):
        if got.error_code == 3:
            got.error_code = got.offset = 0


def _null_records_without_error(request: Any, response: Any) -> None:
    for _, got in _pairs(request, response):
        got.records = got.records or None if got.error_code == 0 else got.records


def _null_records_by_name(request: Any, response: Any) -> None:
    if all(each.topic for each in request.topics):
        _null_records_without_error(request, response)


NULL_RECORDS = "FETCH.records-not-null-when-empty", "KIP-98.open-transaction-is-hidden"
rule("part of a batch", FetchResponse, _truncated, "FETCH.first-batch-despite-max-bytes")
rule("batches after the offset", FetchResponse, _batches_after, "FETCH.offset-inside-a-batch")
rule("nothing beyond the end", FetchResponse, sets(error_code={1: 0}), "FETCH.offset-out-of-range")
rule("old error of topic ids: Fetch", FetchResponse, sets(error_code={100: 3}), "FETCH.unknown-topic-id")
rule(
    "null for no records",
    FetchResponse,
    sets(records={b"": None}),
    *(*NULL_RECORDS, "FETCH.records-not-null-when-empty-by-id", "FETCH.records-not-null-with-an-error"),
    "FETCH.offset-out-of-range",
    report="apache/kafka#18726",
)
rule(
    "null for no records of topics by name",
    FetchResponse,
    _null_records_by_name,
    *NULL_RECORDS,
    report="SaaSy-Solutions/mockforge#186",
)
rule(
    "null for no records without an error",
    FetchResponse,
    _null_records_without_error,
    *(*NULL_RECORDS, "FETCH.records-not-null-when-empty-by-id"),
    report="ydb-platform/ydb#52234",
)
rule("any epoch of a leader", FetchRequest, sets(current_leader_epoch=constant(-1)), "KIP-320.unknown-leader-epoch")
rule(
    "an answer in any session",
    FetchRequest,
    sets(session_id=constant(0), session_epoch=constant(-1)),
    "KIP-227.unknown-session",
)
rule(
    "a session for all",
    FetchResponse,
    sets(session_id={0: 77}),
    "KIP-227.no-session-on-epoch-minus-one",
)
rule(
    "open transactions: Fetch",
    FetchRequest,
    sets(isolation_level={1: 0}),
    "KIP-98.open-transaction-is-hidden",
    "KIP-98.aborted-transactions-are-listed",
)
rule("open transactions", ListOffsetsRequest, sets(isolation_level={1: 0}), "KIP-98.open-transaction-is-hidden")
rule(
    "no list of aborted transactions",
    FetchResponse,
    sets(aborted_transactions=constant(None)),
    "KIP-98.aborted-transactions-are-listed",
)
rule(
    "the last offset",
    ListOffsetsResponse,
    _last_offset,
    "LIST-OFFSETS.earliest-and-latest",
    "KIP-98.duplicate-batch-is-not-appended",
    "KIP-98.open-transaction-is-hidden",
)
rule("offsets of batches", ListOffsetsResponse, _base_offset, "LIST-OFFSETS.first-at-or-after-a-timestamp")
rule("the end of the log", ListOffsetsResponse, _end_of_log, "LIST-OFFSETS.timestamp-after-the-last-record")
rule("an offset without partition", ListOffsetsResponse, _offset_0, "LIST-OFFSETS.unknown-partition")
rule("no largest timestamp", ListOffsetsRequest, sets(timestamp={-3: -1}), "LIST-OFFSETS.max-timestamp")
rule(
    "an end of any epoch",
    OffsetForLeaderEpochResponse,
    sets(end_offset={-1: 2}),
    "KIP-320.end-offset-of-an-epoch",
)
