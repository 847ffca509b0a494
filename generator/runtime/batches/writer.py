"""Writes record batches from records: those of clients, and the ones with which brokers end transactions."""

from __future__ import annotations

from collections.abc import Iterable
from struct import error as StructError

from ..errors import EncodeError
from .crc import checksum
from .encode import Shared, codec_number
from .engines import codecs
from .format import (
    CONTROL,
    CONTROL_KEY,
    CONTROL_TYPES,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    MARKER_VALUE,
    TRANSACTIONAL,
)
from .records import Record

_INT64 = 1 << 63


def write_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    compression: str = "none",
    log_append_time: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    leader_epoch: int = -1,
    delete_horizon: int | None = None,
    magic: int = 2,
) -> bytes:
    """One record batch with these records, at least one, as ``records`` of a Produce request or a Fetch response has it.

    Records whose ``offset`` is -1 count on from ``base_offset`` and from each other; others must ascend. ``compression`` is
    none, gzip, snappy, lz4 or zstd. ``log_append_time`` (milliseconds) is the timestamp of all records where a broker gave
    one; ``delete_horizon`` is in milliseconds (KIP-534). ``producer_id``, ``producer_epoch`` and ``base_sequence`` are for
    idempotent producers (KIP-98). ``magic`` 0 and 1 give the message sets of KIP-32, one message for each record or a
    compressed one around all; they have no headers and none of what producers and transactions need.

    Raises EncodeError for what the format cannot hold: its ``path`` is ``records[3]`` or the name of an argument. Raises
    MissingCodecError if nothing installed can compress.
    """
    codec = codec_number(compression, magic)
    check_format(magic, (producer_id, producer_epoch, base_sequence, leader_epoch), is_transactional, delete_horizon)
    if magic == 0 and log_append_time is not None:
        raise EncodeError("format 0 has no timestamps", path="log_append_time")
    attributes = (
        codec | (0 if log_append_time is None else LOG_APPEND_TIME) | (TRANSACTIONAL if is_transactional else 0)
    )
    attributes |= 0 if delete_horizon is None else DELETE_HORIZON
    batch = Shared(
        magic,
        codec,
        attributes,
        leader_epoch,
        producer_id,
        producer_epoch,
        base_sequence,
        log_append_time,
        delete_horizon,
        codecs().compress,
        checksum(),
    )
    return _encoded(batch, _with_offsets(records, base_offset))


def check_format(magic: int, numbers: tuple[int, int, int, int], transactional: bool, horizon: int | None) -> None:
    """Has a format what is asked of it? ``numbers`` are those that are -1 where there are none. Raises EncodeError."""
    if magic < 2 and (numbers != (-1, -1, -1, -1) or transactional or horizon is not None):
        raise EncodeError("only format 2 has producers, transactions, leader epochs and delete horizons", path="magic")


def _encoded(batch: Shared, records: list[Record]) -> bytes:
    try:
        return batch.encode(records)
    except StructError as error:
        raise EncodeError(f"a number does not fit: {error}") from error
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, EncodeError):
            raise
        raise _culprit(batch, records, error) from error


def _culprit(batch: Shared, records: list[Record], error: Exception) -> EncodeError:
    """The error about the first record that cannot be written on its own."""
    for number, record in enumerate(records):
        try:
            batch.encode([record])
        except (TypeError, AttributeError, ValueError) as reason:
            return EncodeError(f"this is no record: {reason}", path=f"records[{number}]")
    return EncodeError(f"these are no records: {error}", path="records")


def _with_offsets(records: Iterable[Record], base_offset: int) -> list[Record]:
    """All of them with offsets that ascend."""
    last = base_offset - 1
    found = []
    for number, record in enumerate(records):
        if not isinstance(record, Record):
            raise EncodeError(f"this is no Record: {type(record).__name__}", path=f"records[{number}]")
        offset = record[0]
        if offset == -1:
            offset = last + 1
            record = tuple.__new__(Record, (offset, *record[1:]))
        if not 0 <= offset < _INT64 or (number and offset <= last):
            raise EncodeError(f"{offset} cannot follow {last}", path=f"records[{number}].offset")
        last = offset
        found.append(record)
    if not found:
        raise EncodeError("a batch has at least one record", path="records")
    return found


def write_control_batch(
    control_type: str,
    value: bytes | None = None,
    *,
    offset: int = 0,
    timestamp: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    coordinator_epoch: int = 0,
    leader_epoch: int = -1,
) -> bytes:
    """A batch of one control record.

    ``control_type`` is ``COMMIT`` or ``ABORT``, the markers that end a transaction (KIP-98), whose value is made from
    ``coordinator_epoch``; or another name of ``CONTROL_TYPES``, for the logs of KRaft (KIP-595, KIP-630, KIP-853), with
    ``value`` as the message of that name writes it. ``timestamp`` is in milliseconds. Raises EncodeError.
    """
    if control_type not in CONTROL_TYPES[:-1]:
        raise EncodeError(f"{control_type!r} is none of {', '.join(CONTROL_TYPES[:-1])}", path="control_type")
    marker = control_type in ("ABORT", "COMMIT")
    if marker == (value is not None):
        raise EncodeError("a value is for all control records but COMMIT and ABORT", path="value")
    attributes = CONTROL | (TRANSACTIONAL if marker else 0)
    numbers = (leader_epoch, producer_id, producer_epoch, -1)
    batch = Shared(2, 0, attributes, *numbers, None, None, codecs().compress, checksum())
    try:
        key = CONTROL_KEY.pack(0, CONTROL_TYPES.index(control_type))
        content = MARKER_VALUE.pack(0, coordinator_epoch) if value is None else value
        return batch.encode([Record(offset, timestamp, key, content)])
    except StructError as error:
        raise EncodeError(f"a number does not fit: {error}") from error
