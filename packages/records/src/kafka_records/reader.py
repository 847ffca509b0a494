"""Iterator over record batches in the ``records`` of a Fetch response or Produce request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from struct import Struct

from ._values import BytesLike, as_bytes, shown
from .contents import Limits, read_contents, read_decompressed
from .crc import FEW, checksum, verify_sum
from .errors import BatchDecodeError, MalformedRecord
from .format import (
    BATCH_PLAIN,
    CODECS,
    COMPRESSION,
    CONTROL,
    CONTROL_KEY,
    CONTROL_TYPES,
    DELETE_HORIZON,
    HEADER,
    LOG_APPEND_TIME,
    MARKER_VALUE,
    MAX_BATCH_BYTES,
    MAX_BATCH_RECORDS,
    OVERHEAD,
    SMALLEST,
    SMALLEST_RECORD,
    SUMMED_FROM,
    TIMESTAMP_TYPES,
    TRANSACTIONAL,
    CompressionName,
)
from .header import Header, batch_error, read_header
from .records import ControlRecord, Record, read_records

_chained = chain.from_iterable
_int32 = Struct(">i").unpack_from
_plain = BATCH_PLAIN.unpack_from
_NOT_PLAIN = COMPRESSION | LOG_APPEND_TIME | CONTROL
# Number of header bytes included in the length field.
_BEHIND = HEADER - OVERHEAD
_SUMMED = SUMMED_FROM[2]
_DEFAULTS = Limits(MAX_BATCH_BYTES, MAX_BATCH_RECORDS)


class Batch:
    """A record batch, or an outermost message in formats 0 and 1.

    Records are decoded on demand. ``position`` and ``size`` are in bytes; ``number`` is the index of the batch in the
    input. Fields that formats 0 and 1 lack are -1, except ``last_offset_delta`` (0).
    """

    __slots__ = (
        "_data",
        "_header",
        "_most",
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "count",
        "crc",
        "last_offset_delta",
        "leader_epoch",
        "magic",
        "max_timestamp",
        "number",
        "position",
        "producer_epoch",
        "producer_id",
        "size",
    )

    number: int
    position: int
    size: int
    base_offset: int
    """Offset of the first record before compaction; for a compressed message of format 0 or 1, of its last message."""
    leader_epoch: int
    magic: int
    """Format: 2, 1 or 0."""
    crc: int
    attributes: int
    """Raw attribute bits."""
    last_offset_delta: int
    base_timestamp: int
    """Milliseconds since 1970: timestamp of the first record, or the delete horizon if the batch has one."""
    max_timestamp: int
    """Milliseconds since 1970."""
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int
    """Number of records; -1 for a compressed message of format 0 or 1."""

    def __init__(self, data: bytes, position: int, number: int, most: Limits, header: Header) -> None:
        self._data = data
        self._most = most
        self._header = header
        self.position = position
        self.number = number
        (
            self.base_offset,
            length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        ) = header
        self.size = length + OVERHEAD

    def __repr__(self) -> str:
        return (
            f"<Batch {self.number} at byte {self.position}: format {self.magic}, {self.size} bytes, "
            f"offsets {self.base_offset} to {self.last_offset}, {self.compression}>"
        )

    @property
    def last_offset(self) -> int:
        """Offset of the last record before compaction."""
        return self.base_offset + self.last_offset_delta

    @property
    def compression(self) -> CompressionName:
        """Codec name."""
        return CODECS[self.attributes & COMPRESSION]

    @property
    def timestamp_type(self) -> str | None:
        """``CreateTime``, ``LogAppendTime``, or None in format 0."""
        return None if self.magic == 0 else TIMESTAMP_TYPES[(self.attributes & LOG_APPEND_TIME) // LOG_APPEND_TIME]

    @property
    def is_transactional(self) -> bool:
        """True if the records belong to a transaction."""
        return self.magic == 2 and self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        """True if the batch contains control records, see ``control_records``."""
        return self.magic == 2 and self.attributes & CONTROL != 0

    @property
    def delete_horizon(self) -> int | None:
        """Time in milliseconds after which tombstones and transaction markers may be removed, or None (KIP-534)."""
        return self.base_timestamp if self.magic == 2 and self.attributes & DELETE_HORIZON else None

    @property
    def data(self) -> bytes:
        """Bytes of the whole batch."""
        return self._data[self.position : self.position + self.size]

    def verify(self) -> None:
        """Raise ChecksumError if the checksum does not match the bytes of the batch."""
        verify_sum(self._data, self.position, self.number, self._header)

    def records(self, *, verify: bool = True) -> list[Record]:
        """Return the records, even if they are control records.

        ``verify`` checks the checksums of inner messages (formats 0 and 1), not that of the batch. Raises BatchDecodeError
        for damaged records or an exceeded limit, and MissingCodecError.
        """
        return read_contents(self._data, self.position, self.number, self._header, self._most, verify)

    def decompressed(self) -> bytes:
        """Return the decompressed records of format 2, or inner messages of formats 0 and 1; raises as ``records``."""
        return read_decompressed(self._data, self.position, self.number, self._header, self._most.size)

    def control_records(self) -> list[ControlRecord]:
        """Return the records of a control batch, or [] for other batches. Raises the errors of ``records``."""
        return (
            [self._control(number, record) for number, record in enumerate(self.records())] if self.is_control else []
        )

    def _error(self, reason: str, record: int) -> BatchDecodeError:
        return batch_error(reason, self.number, self.position, self.magic, record)

    def _control(self, number: int, record: Record) -> ControlRecord:
        if record.key is None or len(record.key) < CONTROL_KEY.size:
            raise self._error("the key of a control record has fewer than 4 bytes", number)
        version, kind = CONTROL_KEY.unpack_from(record.key)
        if version < 0:
            raise self._error("the key of a control record has a negative version", number)
        unknown = len(CONTROL_TYPES) - 1
        epoch = None
        if kind in (0, 1) and record.value is not None and len(record.value) >= MARKER_VALUE.size:
            epoch = MARKER_VALUE.unpack_from(record.value)[1]
        name = CONTROL_TYPES[kind if 0 <= kind < unknown else unknown]
        return ControlRecord(record.offset, record.timestamp, name, kind, epoch, record.value)


class BatchReader:
    """Iterator over the record batches in ``data``, see ``read_batches``."""

    _number = 0
    _most = _DEFAULTS
    _max_bytes, _max_records = _DEFAULTS
    _short = FEW - OVERHEAD  # exclusive length limit of batches for the fast path
    position: int = 0
    """Position of the next batch in bytes."""
    incomplete: int = 0
    """Number of bytes of a truncated last batch that are present; set when iteration ends."""

    def __init__(self, data: bytes, verify: bool, most: Limits) -> None:
        self._data = data
        self._verify = verify
        if most is not _DEFAULTS:
            self._limit(most)

    def _limit(self, most: Limits) -> None:
        self._most = most
        self._max_bytes, self._max_records = most
        if self._max_bytes < FEW or self._max_records < FEW:  # the fast path does not check such low limits
            self._short = 0

    def __iter__(self) -> BatchReader:
        return self

    def __next__(self) -> Batch:
        position, number = self.position, self._number
        header = self._next_header()
        if header is None:
            raise StopIteration
        return Batch(self._data, position, number, self._most, header)

    def _next_header(self) -> Header | None:
        data, position = self._data, self.position
        left = len(data) - position
        if left < OVERHEAD:
            self.incomplete = left
            return None
        size = _int32(data, position + 8)[0] + OVERHEAD
        if not SMALLEST[0] <= size <= self._max_bytes:
            reason = f"size of {size} bytes, not between {SMALLEST[0]} and {self._max_bytes} (max_batch_bytes)"
            raise batch_error(reason, self._number, position)
        if size > left:
            self.incomplete = left
            return None
        header = read_header(data, position, self._number)
        if self._verify:
            verify_sum(data, position, self._number, header)
        self.position = position + size
        self._number += 1
        return header

    def records(self) -> Iterator[Record]:
        """Iterate over the records of the remaining data batches. Raises the errors of iteration and ``Batch.records``."""
        return _chained(iter(self._next_records, None))

    def _next_records(self) -> list[Record] | None:
        """Return the records of the next batch (empty for control batches), or None at the end."""
        data, position, number = self._data, self.position, self._number
        size = len(data)
        if position == size:
            return None
        if position + HEADER <= size:
            base_offset, length, magic, stored, attributes, delta, base_timestamp, count = _plain(data, position)
            end = position + OVERHEAD + length
            if (
                magic == 2
                and not attributes & _NOT_PLAIN
                and _BEHIND + count * SMALLEST_RECORD <= length < self._short
                and end <= size
                and base_offset >= 0
                and delta >= 0
                and (not self._verify or checksum()(data[position + _SUMMED : end]) == stored)
            ):
                try:
                    records = read_records(
                        data, position + HEADER, end, count, base_offset, base_timestamp, None, self._max_records
                    )
                except MalformedRecord:
                    pass
                else:
                    self.position = end
                    self._number = number + 1
                    return records
        header = self._next_header()
        if header is None:
            return None
        if header[3] == 2 and header[5] & CONTROL:
            return []
        return read_contents(self._data, position, number, header, self._most, self._verify)


def read_batches(
    data: BytesLike,
    *,
    verify: bool = True,
    max_batch_bytes: int = MAX_BATCH_BYTES,
    max_batch_records: int = MAX_BATCH_RECORDS,
) -> BatchReader:
    """Iterate over the record batches of a Fetch response or Produce request, in formats 0 to 2.

    Iteration reads headers; ``Batch.records`` decodes records. A truncated last batch ends the iteration, and
    ``BatchReader.incomplete`` is its number of bytes. ``verify`` checks the checksums of batches.

    ``max_batch_bytes`` limits the size of a batch, both stored and decompressed (default: 128 MiB). ``max_batch_records``
    limits the number of its records, and the number of all their headers (default: 1,000,000).

    Raises TypeError if ``data`` is not bytes-like or a limit is not an int, and ValueError for a limit below 1. Iteration
    raises BatchDecodeError, with ``path`` (``batches[3]``) and ``offset`` (start of the batch in bytes), or ChecksumError.
    """
    if max_batch_bytes is MAX_BATCH_BYTES and max_batch_records is MAX_BATCH_RECORDS:
        most = _DEFAULTS
    else:
        most = Limits(_bound("max_batch_bytes", max_batch_bytes), _bound("max_batch_records", max_batch_records))
    return BatchReader(data if type(data) is bytes else as_bytes(data, "data"), verify, most)


def read_headers(data: BytesLike, *, max_batch_bytes: int = MAX_BATCH_BYTES) -> BatchReader:
    """Iterate over batches like ``read_batches``, but without checking checksums. Raises BatchDecodeError."""
    return read_batches(data, verify=False, max_batch_bytes=max_batch_bytes)


def _bound(argument: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{argument} must be an int, not {shown(given)}")
    if given < 1:
        raise ValueError(f"{argument} must be at least 1, not {given}")
    return given
