"""The table of the record batch formats: where fields are, what bits mean, codecs and limits, for all that reads or writes.

Layout (big-endian) after https://kafka.apache.org/documentation/#messageformat and KIP-98: base offset int64, length
int32 (of what follows), partition leader epoch int32, magic int8, CRC-32C uint32 (of what follows), attributes int16,
last offset delta int32, base and max timestamp int64, producer id int64, producer epoch int16, base sequence int32,
record count int32, records. Formats 0 and 1 (KIP-32) have single messages instead: offset int64, length int32, CRC-32
uint32 (of what follows), magic int8, attributes int8, in format 1 timestamp int64, key and value with int32 lengths.
Offset, length and magic are at the same places in all of them.
"""

from __future__ import annotations

from struct import Struct
from typing import Literal, TypeAlias

CompressionName: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
"""The name of a compression."""
CODECS: tuple[CompressionName, ...] = ("none", "gzip", "snappy", "lz4", "zstd")
"""By number, as bits 0 to 2 of a batch's attributes hold it."""
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")
"""By number, as bit 3 of a batch's attributes holds it; the names are those of Kafka's TimestampType."""

MAX_BATCH_BYTES = 128 << 20
"""Default bound of a batch, as stored and decompressed; a broker takes no request above 100 MiB by default."""
MAX_BATCH_RECORDS = 1_000_000
"""Default bound of what is made of a batch at once: a record of 7 bytes, which compress to none, is an object of 100."""

OVERHEAD = 12
"""Bytes of offset and length, which the length does not count."""
SMALLEST = {0: 26, 1: 34, 2: 61}
"""The whole size of an empty message or batch, by format."""
HEADER = SMALLEST[2]
SMALLEST_RECORD = 7
"""Length, attributes, timestamp, offset, key, value and headers, of one byte each."""

MAGIC_AT = 16
LEADER_EPOCH_AT = 12
CRC_AT = {0: 12, 1: 12, 2: 17}
SUMMED_FROM = {0: 16, 1: 16, 2: 21}
"""Where the bytes begin that the checksum covers; they go on to the end."""
TIMESTAMP_AT = 18
"""Of a message of format 1."""
KEY_SIZE_AT = {0: 18, 1: 26}
"""Of a message."""

COMPRESSION = 0b111
LOG_APPEND_TIME = 1 << 3
TRANSACTIONAL = 1 << 4
CONTROL = 1 << 5
DELETE_HORIZON = 1 << 6

CONTROL_TYPES = (
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
    "UNKNOWN",
)
"""By the number in a control record's key; UNKNOWN stands for all others."""

FINE = 0
FAULTS = (
    "",
    "the offset is negative: this is no log segment, or a damaged one",
    "magic {magic} is not known, formats 0 to 2 are",
    "a size of {size} bytes is too small for format {magic}",
    "compression {codec} is not known",
    "the record count {count} is negative",
    "the last offset delta {delta} is negative",
    "{count} records cannot be in {size} bytes",
)
"""What can be wrong with a header; where two things are, the first of them counts."""

BATCH = Struct(">qiibIhiqqqhii")
"""A header of format 2."""
BATCH_PLAIN = Struct(">qi4xbIhiq22xI")
"""What of it the records of a plain batch are read with; a negative count is a very large one here."""
BATCH_BEGIN = Struct(">qiibI")
"""What of it stands before the part that the checksum covers, the checksum included."""
BATCH_SUMMED = Struct(">hiqqqhii")
"""What of it the checksum covers."""
ENTRY = Struct(">qiIbb")
"""What messages of formats 0 and 1 begin with, up to the attributes."""
CONTROL_KEY = Struct(">hh")
"""Version and type."""
MARKER_VALUE = Struct(">hi")
"""Of COMMIT and ABORT: version and coordinator epoch."""


def sum_text(stored: int, actual: int, size: int) -> str:
    """What is wrong with a batch whose checksum does not agree."""
    return f"the checksum is {stored:#010x}, but that of its {size} bytes is {actual:#010x}"
