"""Reads record batches from the ``records`` of a Fetch response or a Produce request, one after the other.

Rules and leniency are those of ``segments``, and so of Kafka's classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from zlib import crc32

from ..errors import DecodeError
from .compression import CompressionError
from .crc import checksum
from .engines import codecs
from .format import (
    BATCH,
    CODECS,
    COMPRESSION,
    CONTROL,
    CONTROL_KEY,
    CONTROL_TYPES,
    DELETE_HORIZON,
    ENTRY,
    FAULTS,
    FINE,
    HEADER,
    KEY_SIZE_AT,
    LOG_APPEND_TIME,
    MAGIC_AT,
    MARKER_VALUE,
    MAX_BATCH_BYTES,
    OVERHEAD,
    SMALLEST,
    SMALLEST_RECORD,
    SUMMED_FROM,
    TIMESTAMP_AT,
    TIMESTAMP_TYPES,
    TRANSACTIONAL,
    sum_text,
)
from .legacy import read_messages
from .records import ControlRecord, Record, RecordError, read_records

_int32 = Struct(">i").unpack_from
_int64 = Struct(">q").unpack_from
_uint32 = Struct(">I").unpack_from
_batch = BATCH.unpack_from
_entry = ENTRY.unpack_from


class ChecksumError(DecodeError):
    """The checksum of a batch is not that of its bytes: they changed on their way or in storage."""


class Batch:
    """A record batch, or in formats 0 and 1 an outermost message: its header, and its records when they are asked for.

    ``position`` is the byte at which it begins, ``size`` all its bytes, ``number`` its place among the batches read.
    Fields have Kafka's names; those that a format lacks are -1.
    """

    __slots__ = (
        "_data",
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
    """Of a compressed message of formats 0 and 1 the offset of the last message in it."""
    leader_epoch: int
    magic: int
    """The format: 2, 1 or 0."""
    crc: int
    attributes: int
    """As they are stored; ``compression``, ``timestamp_type`` and the ``is_`` properties say what they mean."""
    last_offset_delta: int
    base_timestamp: int
    """Milliseconds; the delete horizon in a batch that has one."""
    max_timestamp: int
    """Milliseconds."""
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int
    """The number of records, -1 for a compressed message of formats 0 and 1: one has to decompress it to know."""

    def __init__(self, data: bytes, position: int, number: int, most: int) -> None:
        """Take the header of a whole batch apart. Raises DecodeError."""
        self._data = data
        self._most = most
        self.position = position
        self.number = number
        self.magic = -1
        if data[position + MAGIC_AT] == 2 and len(data) - position >= HEADER:
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
            ) = _batch(data, position)
        else:
            self.base_offset, length, self.crc, self.magic, self.attributes = _entry(data, position)
            self.leader_epoch = self.producer_id = self.producer_epoch = self.base_sequence = -1
            self.last_offset_delta = 0
            self.count = -1 if self.attributes & COMPRESSION else 1
            is_timed = self.magic == 1 and length + OVERHEAD >= SMALLEST[1]
            self.base_timestamp = self.max_timestamp = _int64(data, position + TIMESTAMP_AT)[0] if is_timed else -1
        self.size = length + OVERHEAD
        if (fault := self._fault()) != FINE:
            raise self._error(
                FAULTS[fault].format(
                    magic=self.magic,
                    size=self.size,
                    codec=self.attributes & COMPRESSION,
                    count=self.count,
                    delta=self.last_offset_delta,
                )
            )

    def _fault(self) -> int:
        """What is wrong with the header, as a number of ``FAULTS``."""
        if self.base_offset < 0:
            return 1
        if not 0 <= self.magic <= 2:
            return 2
        if self.size < SMALLEST[self.magic]:
            return 3
        codec = self.attributes & COMPRESSION
        if codec >= len(CODECS):
            return 4
        if self.magic < 2:
            return FINE
        if self.count < 0:
            return 5
        if self.last_offset_delta < 0:
            return 6
        return 7 if codec == 0 and self.count * SMALLEST_RECORD > self.size else FINE

    def _error(self, reason: str, record: int = -1) -> DecodeError:
        path = f"batches[{self.number}]" + (f".records[{record}]" if record >= 0 else "")
        known = self.magic if 0 <= self.magic <= 2 else -1
        return DecodeError(f"batch at byte {self.position}: {reason}", "RecordBatch", known, path, self.position)

    def __repr__(self) -> str:
        return (
            f"<Batch {self.number} at byte {self.position}: format {self.magic}, {self.size} bytes, "
            f"offsets {self.base_offset} to {self.last_offset}, {self.compression}>"
        )

    @property
    def last_offset(self) -> int:
        """Of its last record, also if that is no longer there."""
        return self.base_offset + self.last_offset_delta

    @property
    def compression(self) -> str:
        """``none``, ``gzip``, ``snappy``, ``lz4`` or ``zstd``."""
        return CODECS[self.attributes & COMPRESSION]

    @property
    def timestamp_type(self) -> str | None:
        """``CreateTime`` or ``LogAppendTime``; None in format 0, which has no timestamps."""
        return None if self.magic == 0 else TIMESTAMP_TYPES[(self.attributes & LOG_APPEND_TIME) // LOG_APPEND_TIME]

    @property
    def is_transactional(self) -> bool:
        """Whether its records are part of a transaction."""
        return self.magic == 2 and self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        """Whether its records are for clients and brokers, not for users: see ``control_records``."""
        return self.magic == 2 and self.attributes & CONTROL != 0

    @property
    def delete_horizon(self) -> int | None:
        """When tombstones and markers in it may go, in milliseconds; None if nothing was fixed yet (KIP-534)."""
        return self.base_timestamp if self.magic == 2 and self.attributes & DELETE_HORIZON else None

    @property
    def data(self) -> bytes:
        """All its bytes."""
        return self._data[self.position : self.position + self.size]

    def verify(self) -> None:
        """Sum its bytes. Raises ChecksumError if the checksum is another one."""
        summed = memoryview(self._data)[self.position + SUMMED_FROM[self.magic] : self.position + self.size]
        actual = checksum()(summed) if self.magic == 2 else crc32(summed)
        if actual != self.crc:
            error = self._error(sum_text(self.crc, actual, self.size))
            raise ChecksumError(error.reason, error.message, error.version, error.path, error.offset)

    def records(self, *, verify: bool = True) -> list[Record]:
        """Its records, decompressed and taken apart anew each time; of a control batch too.

        ``verify`` sums each message within a compressed one of formats 0 and 1; batches themselves are summed when they
        are read. Raises DecodeError for records that are damaged or come to more than ``max_batch_bytes``, and
        MissingCodecError if nothing installed can decompress them.
        """
        codec = self.attributes & COMPRESSION
        end = self.position + self.size
        appended = self.max_timestamp if self.attributes & LOG_APPEND_TIME else None
        try:
            if self.magic < 2:
                unpacked = self._unwrapped(codec) if codec else None
                return read_messages(self._data, self.position, end, self.magic, appended, unpacked, verify)
            data, pos = self._data, self.position + HEADER
            if codec and self.count:
                data = bytes(codecs().decompress(codec, memoryview(data)[pos:end], self._most))
                pos, end = 0, len(data)
            return read_records(data, pos, end, self.count, self.base_offset, self.base_timestamp, appended)
        except CompressionError as error:
            raise self._error(str(error)) from error.__cause__
        except RecordError as error:
            raise self._error(str(error), error.number) from None

    def _unwrapped(self, codec: int) -> bytes:
        """What is in a compressed message of formats 0 and 1."""
        message = memoryview(self._data)[self.position : self.position + self.size]
        pos = KEY_SIZE_AT[self.magic]
        pos += 4 + max(_int32(message, pos)[0], 0)
        if pos + 4 > len(message) or _int32(message, pos)[0] != len(message) - pos - 4:
            raise RecordError("the key and value of the compressed message do not fill it")
        return bytes(codecs().decompress(codec, message[pos + 4 :], self._most, self.magic))

    def control_records(self) -> list[ControlRecord]:
        """The records of a control batch: empty for other batches. Raises DecodeError."""
        return (
            [self._control(number, record) for number, record in enumerate(self.records())] if self.is_control else []
        )

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
    """The batches in some bytes, one after the other; ``incomplete`` and ``position`` say how far it came."""

    def __init__(self, data: bytes, verify: bool, most: int) -> None:
        self._data = data
        self._verify = verify
        self._most = most
        self._number = 0
        self.position = 0
        """Where the next batch begins."""
        self.incomplete = 0
        """Bytes of a last batch that is not all there, known at the end: a broker cuts a Fetch response where it may."""

    def __iter__(self) -> BatchReader:
        return self

    def __next__(self) -> Batch:
        data, position = self._data, self.position
        left = len(data) - position
        if left < OVERHEAD:
            self.incomplete = left
            raise StopIteration
        size = _int32(data, position + 8)[0] + OVERHEAD
        if not SMALLEST[0] <= size <= self._most:
            reason = f"a size of {size} bytes, not between {SMALLEST[0]} and {self._most} (max_batch_bytes)"
            path = f"batches[{self._number}]"
            raise DecodeError(f"batch at byte {position}: {reason}", "RecordBatch", -1, path, position)
        if size > left:
            self.incomplete = left
            raise StopIteration
        batch = Batch(data, position, self._number, self._most)
        if self._verify:
            batch.verify()
        self.position = position + size
        self._number += 1
        return batch

    def records(self) -> Iterator[Record]:
        """The records of all batches that are left, without those of control batches. Raises what ``read_batches`` says."""
        for batch in self:
            if not batch.is_control:
                yield from batch.records(verify=self._verify)


def read_batches(
    data: bytes | bytearray | memoryview, *, verify: bool = True, max_batch_bytes: int = MAX_BATCH_BYTES
) -> BatchReader:
    """The record batches in ``records`` of a Fetch response or a Produce request, also of the formats 0 and 1.

    Headers are read batch by batch while one iterates, records when ``records()`` of a batch is called. A last batch that is
    not all there ends the iteration and is reported as ``incomplete``. ``verify`` compares the checksums of batches.
    ``max_batch_bytes`` bounds a batch, as stored and decompressed; by default 128 MiB. Iterating raises DecodeError for
    what is no batch, its ``path`` being ``batches[3]`` and its ``offset`` the byte at which that begins, and ChecksumError,
    which is one, for a checksum that does not agree.
    """
    if max_batch_bytes < 1:
        raise ValueError(f"max_batch_bytes is {max_batch_bytes}, at least 1 is needed")
    return BatchReader(data if type(data) is bytes else bytes(data), verify, max_batch_bytes)


def read_headers(data: bytes | bytearray | memoryview, *, max_batch_bytes: int = MAX_BATCH_BYTES) -> BatchReader:
    """The headers of the batches: no byte behind them is summed, decompressed or looked at. Raises DecodeError."""
    return read_batches(data, verify=False, max_batch_bytes=max_batch_bytes)
