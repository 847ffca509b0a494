"""Layouts, flags and limits of the record batch formats.

Sources: https://kafka.apache.org/documentation/#messageformat and KIP-98. All numbers are big-endian.

Format 2: base offset int64, length int32, partition leader epoch int32, magic int8, CRC-32C uint32, attributes int16,
last offset delta int32, base timestamp int64, max timestamp int64, producer id int64, producer epoch int16, base sequence
int32, record count int32, records.

Formats 0 and 1 (KIP-32), each message: offset int64, length int32, CRC-32 uint32, magic int8, attributes int8, timestamp
int64 (format 1 only), key and value with int32 lengths.

Length and checksum cover the bytes after their own field.
"""

from __future__ import annotations

from struct import Struct
from typing import Literal, TypeAlias

CompressionName: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
"""Name of a compression codec."""
# Compression codecs by number, as in bits 0 to 2 of the attributes.
CODECS: tuple[CompressionName, ...] = ("none", "gzip", "snappy", "lz4", "zstd")
# Names of Kafka's TimestampType by number, as in bit 3 of the attributes.
TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")

# Default maximum size of a batch in bytes, stored and decompressed.
MAX_BATCH_BYTES = 128 << 20
# Default maximum number of records. A record of 7 bytes takes about 160 bytes as an object.
MAX_BATCH_RECORDS = 1_000_000

# Size in bytes of the first two fields, offset and length.
OVERHEAD = 12
# Size in bytes of an empty message or batch, by format.
SMALLEST = {0: 26, 1: 34, 2: 61}
HEADER = SMALLEST[2]
# Size in bytes: length, attributes, timestamp, offset, key, value and headers, one byte each.
SMALLEST_RECORD = 7

MAGIC_AT = 16
LEADER_EPOCH_AT = 12
CRC_AT = {0: 12, 1: 12, 2: 17}
# Start of the bytes covered by the checksum, by format; they extend to the end of the batch.
SUMMED_FROM = {0: 16, 1: 16, 2: 21}
# Position of the timestamp in messages of format 1.
TIMESTAMP_AT = 18
# Position of the key length in messages, by format.
KEY_SIZE_AT = {0: 18, 1: 26}

COMPRESSION = 0b111
LOG_APPEND_TIME = 1 << 3
TRANSACTIONAL = 1 << 4
CONTROL = 1 << 5
DELETE_HORIZON = 1 << 6

# Control record types by the type number in the key; UNKNOWN stands for all other numbers.
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

FINE = 0
# Header errors by number; the lowest number that applies is reported.
FAULTS = (
    "",
    "the offset is negative: a damaged batch, or not a batch",
    "unknown magic {magic}; known formats are 0 to 2",
    "a size of {size} bytes is too small for format {magic}",
    "unknown compression {codec}",
    "the record count {count} is negative",
    "the last offset delta {delta} is negative",
    "{count} records do not fit into {size} bytes",
)

# Header of format 2.
BATCH = Struct(">qiibIhiqqqhii")
# Header fields needed to read an uncompressed data batch.
BATCH_PLAIN = Struct(">qi4xbIhiq22xI")
# Header fields up to and including the checksum.
BATCH_BEGIN = Struct(">qiibI")
# Header fields covered by the checksum.
BATCH_SUMMED = Struct(">hiqqqhii")
# First fields of a message of format 0 or 1, up to the attributes.
ENTRY = Struct(">qiIbb")
# Key of a control record: version and type.
CONTROL_KEY = Struct(">hh")
# Value of COMMIT and ABORT: version and coordinator epoch.
MARKER_VALUE = Struct(">hi")
