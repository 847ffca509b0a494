"""Judges of Fetch offsets, and of the record batches in Produce requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import Exchange
from kafka_records import Batch, RecordError, read_batches

from .client_judge import Violation, is_of, named, sent_after
from .client_log import fetch_offsets, next_offset

_TRANSACTIONAL = 1 << 4
_KNOWN_ATTRIBUTES = 0b111 | _TRANSACTIONAL
_MOST_ATTEMPTS = 3
_RECORDS = 3  # of the task consume


class Produced(NamedTuple):
    """Records of a partition in a Produce request, with the error code of the response."""

    exchange: Exchange
    partition: int
    data: bytes
    error: int


def produced(exchanges: Sequence[Exchange]) -> Iterator[Produced]:
    """Yield the partitions of all Produce requests; there is only one topic."""
    for each in exchanges:
        if is_of(each, "Produce"):
            found = each.response.responses if each.response else ()
            errors = {part.index: part.error_code for topic in found for part in topic.partition_responses}
            for part in (part for topic in each.request.topic_data for part in topic.partition_data):
                yield Produced(each, part.index, bytes(part.records or b""), errors.get(part.index, 0))


def sent_batches(exchanges: Sequence[Exchange]) -> Iterator[tuple[Produced, Batch]]:
    for each in produced(exchanges):
        for batch in read_batches(each.data, verify=False):
            yield each, batch


def identity(partition: int, batch: Batch) -> tuple[int, ...]:
    """Return what the batch of a retry has in common with the first one (``ProducerStateEntry.findDuplicateBatch``)."""
    return partition, batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.count


def batches_are_valid(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    for each in produced(exchanges):
        try:
            problems = list(_problems(each.data))
        except RecordError as error:
            problems = [str(error)]
        yield from (Violation(f"{named(each.exchange)}: {problem}", each.exchange) for problem in problems)


def _problems(data: bytes) -> Iterator[str]:
    found = list(read_batches(data))  # raises ChecksumError
    if len(found) != 1 or found[0].magic != 2 or found[0].size != len(data):
        yield f"expected one batch of format 2, got {found}"
        return
    [batch] = found
    records = batch.records()
    offsets, most = [each.offset for each in records], max((each.timestamp for each in records), default=-1)
    if batch.base_offset != 0 or offsets != list(range(batch.count)):
        yield f"the offsets are {offsets[:8]} from {batch.base_offset} on, expected 0 to {batch.count - 1}"
    if batch.last_offset_delta != batch.count - 1:
        yield f"the last offset delta of {batch.count} records is {batch.last_offset_delta}"
    if batch.max_timestamp != most:
        yield f"max_timestamp is {batch.max_timestamp}, expected {most}"
    if batch.attributes & ~_KNOWN_ATTRIBUTES:
        yield f"the attributes are {batch.attributes:#06x}, expected compression and transactional bit only"


def null_and_empty_values_differ(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    values = {
        record.key: (record.value, each.exchange)
        for each, batch in sent_batches(exchanges)
        for record in batch.records()
    }
    for key, expected in ((b"k2", None), (b"k3", b"")):
        value, exchange = values.get(key, (b"no record", None))
        if value != expected:
            yield Violation(f"the value of {key.decode()} must be {expected!r}, got {value!r}", exchange)


def sequences_have_no_gap(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    following: dict[tuple[int, int, int], int] = {}
    known = {(each.response.producer_id, each.response.producer_epoch) for each in exchanges if _gives_id(each)}
    seen = set[tuple[int, ...]]()
    for each, batch in sent_batches(exchanges):
        producer = batch.producer_id, batch.producer_epoch
        if producer not in known:
            yield Violation(f"{named(each.exchange)}: no response has producer id and epoch {producer}", each.exchange)
        place, sequence = (*producer, each.partition), batch.base_sequence
        if identity(each.partition, batch) in seen:
            continue
        if sequence != (expected := following.get(place, 0)):
            problem = f"the sequence of partition {each.partition} is {sequence}, expected {expected}"
            yield Violation(f"{named(each.exchange)}: {problem}", each.exchange)
        following[place] = sequence + batch.count
        seen.add(identity(each.partition, batch))


def _gives_id(exchange: Exchange) -> bool:
    return getattr(exchange.response, "producer_id", -1) >= 0  # InitProducerId, and EndTxn from version 5 on (KIP-890)


def failed_batch_is_repeated(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """A client may also abort the transaction, as Kafka's does when its retries are exhausted."""
    aborts = [each.received_at for each in exchanges if is_of(each, "EndTxn") and not each.request.committed]
    sent = [(each, identity(each.partition, batch)) for each, batch in sent_batches(exchanges)]
    for number, (each, own) in enumerate(sent):
        is_aborted = any(at > each.exchange.received_at for at in aborts)
        is_repeated = own in (later for _, later in sent[number + 1 :])
        if each.error == ErrorCode.NOT_ENOUGH_REPLICAS and not (is_repeated or is_aborted):
            problem = f"{named(each.exchange)}: the batch of partition {each.partition}"
            yield Violation(f"{problem} failed with NOT_ENOUGH_REPLICAS, and was not repeated", each.exchange)


def batch_follows_the_leader(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """After NOT_LEADER_OR_FOLLOWER the records are sent to another broker, with few attempts at the old one."""
    sent = list(produced(exchanges))
    failed = [each for each in sent if each.error == ErrorCode.NOT_LEADER_OR_FOLLOWER]
    for first in failed[:1]:
        if len(sent_after(first.exchange, (each.exchange for each in failed))) >= _MOST_ATTEMPTS:
            yield Violation(f"{len(failed)} Produce requests got NOT_LEADER_OR_FOLLOWER", failed[-1].exchange)
        elsewhere = _values(each.data for each in sent if each.exchange.node_id != first.exchange.node_id)
        if _values([first.data]) - elsewhere:
            yield Violation("the records were not sent to the new leader", first.exchange)


def _values(data: Iterable[bytes]) -> Counter[Any]:
    """Return keys and values; a producer without sequences may divide its records into other batches."""
    batches = (batch for each in data for batch in read_batches(each))
    return Counter((record.key, record.value) for batch in batches for record in batch.records())


def fetches_continue(exchanges: Sequence[Exchange]) -> Iterator[Violation]:
    """The next Fetch starts after the last whole batch of the response, or where the last one did if it has none."""
    expected, count, before = 0, 0, None
    for each in exchanges:
        if not is_of(each, "Fetch") or 0 not in (offsets := fetch_offsets(each.request)):
            continue
        if offsets[0] != expected:
            yield Violation(f"{named(each)} starts at offset {offsets[0]}, expected {expected}", before or each)
            return
        data = _records(each)
        expected, before = max(offsets[0], next_offset(data)), each
        count += sum(batch.count for batch in read_batches(data) if not batch.is_control)
    if count < _RECORDS:
        yield Violation(f"the client stopped after {count} records, expected {_RECORDS}", before)


def _records(exchange: Exchange) -> bytes:
    found = exchange.response.responses if exchange.response else ()
    return b"".join(part.records or b"" for topic in found for part in topic.partitions if part.partition_index == 0)
